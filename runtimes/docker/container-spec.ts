/**
 * What a container of ours is made with.
 * Owns everything that separates it: user, network, files, privileges, system calls, limits. Labels, environment and
 * command line can be read by every user of the daemon, so no secret is among them.
 */
import type Docker from 'dockerode';
import { dirname, join } from 'node:path';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import {
  HOST_SOCKET_NAMES,
  INSIDE,
  BOUND_PORTS,
  boundView,
  compiledAgent,
  initCommand,
  insideEnvironment,
} from '../on-host/inside-view.ts';
import { TMPFS_BYTES_MAX, TMPFS_SHARE_MAX } from '../on-host/limits.ts';
import type { SandboxPlace } from '../on-host/sandbox-place.ts';
import { SERVER_RIGHTS, SERVER_USER } from '../on-host/tools-user.ts';
import { containerUser } from './container-user.ts';
import type { SandboxImage } from './image/sandbox-image.ts';
import { LOG_FILES, LOG_FILE_SIZE, SHARED_MEMORY_BYTES_MAX, STOP_GRACE_S } from './limits.ts';
import { labelsOf, type Marks } from './names.ts';
import type { DockerRuntimeOptions } from './options.ts';
import { seccompProfile } from './seccomp-profile.ts';

/** The first program reads the session key from descriptor 5; the daemon passes it on standard input. */
const KEY_SCRIPT = 'exec "$@" 5<&0 </dev/null';
const NANO = 1e9;
/** Of folders that hold mounts and nothing else. */
const ROOTS_BYTES_MAX = 64 * 1024;
/** What the daemon makes read-only by itself, and one that every user may write to. */
const KERNEL_SETTINGS = ['bus', 'fs', 'irq', 'sys', 'sysrq-trigger', 'pressure'].map(
  (name) => `/proc/${name}`,
);

interface ContainerOrder {
  readonly options: DockerRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly place: SandboxPlace;
  readonly marks: Marks;
  readonly image: SandboxImage;
  /** On the host; null where there is none. */
  readonly guard: string | null;
  /** On the host: with it the Agent Server is another user than its tools; null: it is the same one. */
  readonly filesAs: string | null;
}

export function containerSpec(order: ContainerOrder): Docker.ContainerCreateOptions {
  const { options, marks, image, filesAs } = order;
  const user = containerUser();
  const view = boundView(options, { ...image, toolsUser: filesAs === null ? null : user });
  const environment = insideEnvironment(view, { ...marks, ports: BOUND_PORTS });
  return {
    Image: image.reference,
    Entrypoint: ['/bin/sh', '-c', KEY_SCRIPT, 'sh'],
    Cmd: [...initCommand(view, BOUND_PORTS)],
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    User: filesAs === null ? `${user.uid}:${user.gid}` : `${SERVER_USER}:${SERVER_USER}`,
    Hostname: 'sandbox',
    WorkingDir: INSIDE.workspace,
    Labels: labelsOf(options.dataDir, marks),
    // Closed for good when the process that passes the key is gone: then the first program ends with a reason.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    Tty: false,
    StopSignal: 'SIGTERM',
    StopTimeout: STOP_GRACE_S,
    // A paused container fails every check of the daemon's; Parley probes itself.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostConfig(order),
  };
}

function hostConfig(order: ContainerOrder): Docker.HostConfig {
  const { limits } = order;
  const { memoryBytes, processes, cpus } = limits;
  const profile = seccompProfile(process.arch);
  return {
    NetworkMode: 'none',
    IpcMode: 'private',
    ReadonlyRootfs: true,
    Mounts: mountsOf(order),
    Tmpfs: tmpfsOf(order),
    ShmSize: bounded(SHARED_MEMORY_BYTES_MAX, memoryBytes),
    CapDrop: ['ALL'],
    // The tools have none all the same: it goes with the change to their user.
    ...(order.filesAs === null ? {} : { CapAdd: SERVER_RIGHTS }),
    ReadonlyPaths: KERNEL_SETTINGS,
    SecurityOpt: ['no-new-privileges:true', ...(profile === null ? [] : [`seccomp=${profile}`])],
    // Memory and swap together: without it a bomb would go on in the swap of the host.
    ...(memoryBytes === null ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...(processes === null ? {} : { PidsLimit: processes }),
    ...(cpus === null ? {} : { NanoCpus: Math.round(cpus * NANO) }),
    Ulimits: ulimitsOf(limits),
    // Reaps what agents leave behind.
    Init: true,
    // What ended stays ended: whether it goes on is not for the daemon to decide.
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: 'json-file', Config: { 'max-size': LOG_FILE_SIZE, 'max-file': LOG_FILES } },
  };
}

function mountsOf({ options, place, guard, filesAs }: ContainerOrder): Docker.MountSettings[] {
  const bind = (Source: string, Target: string, ReadOnly: boolean): Docker.MountSettings => ({
    Type: 'bind',
    Source,
    Target,
    ReadOnly,
  });
  const { programs, hostSockets, egressSocket = null, authorities = null } = options;
  const compiled = compiledAgent(programs.agentServer);
  return [
    bind(place.workspace, INSIDE.workspace, false),
    ...(filesAs === null
      ? [bind(place.agent, INSIDE.agent, false), bind(place.offeredDir, INSIDE.agentSockets, false)]
      : [
          bind(place.agent, INSIDE.serverState, false),
          bind(place.offeredDir, INSIDE.serverSockets, false),
          bind(place.plugins, INSIDE.plugins, false),
          bind(filesAs, INSIDE.filesAs, true),
        ]),
    ...HOST_SOCKET_NAMES.map((name) =>
      bind(dirname(hostSockets[name]), join(INSIDE.hostSockets, name), true),
    ),
    ...(egressSocket === null ? [] : [bind(dirname(egressSocket), INSIDE.egressSocket, true)]),
    ...(authorities === null ? [] : [bind(authorities, INSIDE.authorities, true)]),
    ...(guard === null ? [] : [bind(guard, INSIDE.guard, true)]),
    bind(programs.agentServer, INSIDE.agentServer, true),
    ...(compiled === null ? [] : [bind(compiled, INSIDE.compiledAgent, true)]),
    bind(programs.sandboxInit, INSIDE.sandboxInit, true),
  ];
}

/** What is run from them was put there by the agent, so nothing is forbidden but what gives rights. */
function tmpfsOf({ limits: { memoryBytes }, filesAs }: ContainerOrder): Record<string, string> {
  const { uid, gid } = containerUser();
  const roots = (mode: string): string => `rw,noexec,nosuid,nodev,size=${ROOTS_BYTES_MAX},mode=${mode}`;
  const own = (bytes: number, mode: string): string =>
    `rw,exec,nosuid,nodev,size=${bounded(bytes, memoryBytes)},mode=${mode},uid=${uid},gid=${gid}`;
  return {
    '/tmp': own(TMPFS_BYTES_MAX['/tmp'], '1777'),
    '/run': own(TMPFS_BYTES_MAX['/run'], '0755'),
    [INSIDE.home]: own(TMPFS_BYTES_MAX['/home'], '0700'),
    // A file system of its own: its folder is the tools', which could move it away and put their own there.
    [INSIDE.run]: roots('0755'),
    ...(filesAs === null ? {} : { [INSIDE.server]: roots('0700') }),
  };
}

function bounded(bytes: number, memoryBytes: number | null): number {
  return memoryBytes === null ? bytes : Math.min(bytes, Math.floor(memoryBytes * TMPFS_SHARE_MAX));
}

function ulimitsOf({ fileBytes }: SandboxLimits): Docker.Ulimit[] {
  // Core dumps would hold keys.
  const core = { Name: 'core', Soft: 0, Hard: 0 };
  return fileBytes === null ? [core] : [core, { Name: 'fsize', Soft: fileBytes, Hard: fileBytes }];
}
