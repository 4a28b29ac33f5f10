/**
 * What a pod of ours is made with.
 * Owns everything that separates it: user, network name service, files, privileges, system calls, limits. Every account
 * that may read pods reads it, so no secret is in it. It passes the admission `restricted`, or `baseline` where the
 * Agent Server is another user than its tools: to change users it begins as root, without any other right of root's.
 */
import type {
  V1Container,
  V1Pod,
  V1PodSpec,
  V1ResourceRequirements,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node';
import { basename } from 'node:path';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import {
  BOUND_PORTS,
  EGRESS_PORT,
  HOST_SOCKET_NAMES,
  INSIDE,
  insideEnvironment,
} from '../on-host/inside-view.ts';
import { LOG_BYTES_MAX, TMPFS_BYTES_MAX, TMPFS_SHARE_MAX } from '../on-host/limits.ts';
import { SERVER_RIGHTS, SERVER_USER, type ToolsUser } from '../on-host/tools-user.ts';
import { AGENT_PORT, NODE_DISK, STOP_GRACE_S } from './limits.ts';
import { labelsOf, volumeName, type Marks } from './names.ts';
import type { KubernetesRuntimeOptions, PodRoutes } from './options.ts';
import { MAIN_CONTAINER } from './pod-state.ts';
import { GUARD_MOUNT, POD_USER, guardVolume, keyVariable, launchScript } from './session-secret.ts';

/** Where the folder of a server that is another user is prepared: its socket is made as the tools' user. */
const SERVER_AT_FIRST = '/server';
const SOCKETS_AT_FIRST = `${SERVER_AT_FIRST}/${basename(INSIDE.serverSockets)}`;
/** Answers nothing: a sandbox resolves no name, or names would carry its secrets out. */
const NO_NAME_SERVER = '127.0.0.1';

interface PodOrder {
  readonly options: KubernetesRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly marks: Marks;
  readonly name: string;
  /** With addresses in place of names, since no name is resolved inside. */
  readonly routes: PodRoutes;
}

/** The user of a pod's tools, where it is another one than that of their Agent Server; null: it is the same one. */
export function toolsUserOf({
  splitsTools = false,
  podSecurity = 'baseline',
}: Pick<KubernetesRuntimeOptions, 'splitsTools' | 'podSecurity'>): ToolsUser | null {
  return splitsTools && podSecurity === 'baseline' ? POD_USER : null;
}

export function agentPod(order: PodOrder): V1Pod {
  const { options, limits, marks, name } = order;
  const user = toolsUserOf(options);
  const mounts = agentMounts(user);
  const agent: V1Container = {
    name: MAIN_CONTAINER,
    image: options.image,
    command: ['sh', '-c', launchScript(limits.fileBytes, user), 'node', ...initArguments(order)],
    env: [...agentEnvironment(order), keyVariable(name)],
    workingDir: INSIDE.workspace,
    ports: [{ name: 'agent', containerPort: AGENT_PORT }],
    volumeMounts: [...mounts],
    resources: resourcesOf(order),
    securityContext: user === null ? CONTAINER_SECURITY : SERVER_SECURITY,
  };
  const memory = { memoryBytes: limits.memoryBytes };
  return podOf(order, {
    initContainers: [preparation(order)],
    containers: [agent],
    volumes: [
      workspaceVolume(options.installation, marks),
      memoryVolume('tmp', TMPFS_BYTES_MAX['/tmp'], memory),
      // Of a server that is another user only folders are in it, and its socket.
      memoryVolume('run', TMPFS_BYTES_MAX['/run'], memory),
      memoryVolume('home', TMPFS_BYTES_MAX['/home'], memory),
      guardVolume(name),
    ],
  });
}

/** What every pod of ours has, whatever runs in it. */
export function podOf(order: Pick<PodOrder, 'options' | 'marks' | 'name'>, spec: V1PodSpec): V1Pod {
  const { options, marks, name } = order;
  const { runtimeClass, imagePullSecrets, installation } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: labelsOf(installation, marks) },
    spec: {
      // What ended stays ended: whether it goes on is not for the cluster to decide.
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostname: 'sandbox',
      dnsPolicy: 'None',
      dnsConfig: { nameservers: [NO_NAME_SERVER] },
      // The first process of the pod reaps what agents leave behind.
      shareProcessNamespace: true,
      terminationGracePeriodSeconds: STOP_GRACE_S,
      securityContext: POD_SECURITY,
      ...(runtimeClass === null ? {} : { runtimeClassName: runtimeClass }),
      ...(imagePullSecrets.length === 0
        ? {}
        : { imagePullSecrets: imagePullSecrets.map((one) => ({ name: one })) }),
      ...spec,
    },
  };
}

const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: POD_USER.uid,
  runAsGroup: POD_USER.gid,
  fsGroup: POD_USER.gid,
  // A workspace has many files: their owner is not set anew at every start.
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  privileged: false,
  capabilities: { drop: ['ALL'] },
};

/** Of an Agent Server that is another user than its tools; they have none of these rights. */
const SERVER_SECURITY = {
  ...CONTAINER_SECURITY,
  runAsNonRoot: false,
  runAsUser: SERVER_USER,
  runAsGroup: SERVER_USER,
  capabilities: { drop: ['ALL'], add: [...SERVER_RIGHTS] },
};

export function workspaceVolume(installation: string, { sandboxId }: Marks): V1Volume {
  return { name: 'sandbox', persistentVolumeClaim: { claimName: volumeName(installation, sandboxId) } };
}

/** Directories of the volume belong to their maker: the cluster makes them for root, and Git trusts its own user. */
function preparation({ options }: PodOrder): V1Container {
  const isSplit = toolsUserOf(options) !== null;
  const made = [
    '/volume/workspace',
    '/volume/agent',
    ...(isSplit ? ['/volume/plugins', SOCKETS_AT_FIRST] : []),
  ];
  return {
    name: 'prepare',
    image: options.image,
    command: ['sh', '-c', `mkdir -p ${made.join(' ')} && chmod 700 /volume/agent`],
    volumeMounts: [
      { name: 'sandbox', mountPath: '/volume' },
      ...(isSplit ? [{ name: 'run', mountPath: SERVER_AT_FIRST }] : []),
    ],
    resources: { limits: { memory: NODE_DISK, cpu: '100m' }, requests: { memory: NODE_DISK, cpu: '10m' } },
    securityContext: CONTAINER_SECURITY,
  };
}

function agentMounts(user: ToolsUser | null): readonly V1VolumeMount[] {
  const own: readonly V1VolumeMount[] =
    user === null
      ? [
          { name: 'sandbox', mountPath: INSIDE.agent, subPath: 'agent' },
          { name: 'run', mountPath: INSIDE.agentSockets },
        ]
      : [
          { name: 'run', mountPath: INSIDE.server },
          { name: 'sandbox', mountPath: INSIDE.serverState, subPath: 'agent' },
          { name: 'sandbox', mountPath: INSIDE.plugins, subPath: 'plugins' },
        ];
  return [
    { name: 'sandbox', mountPath: INSIDE.workspace, subPath: 'workspace' },
    ...own,
    { name: 'tmp', mountPath: '/tmp' },
    { name: 'home', mountPath: INSIDE.home },
    GUARD_MOUNT,
  ];
}

function memoryVolume(
  name: string,
  bytes: number,
  { memoryBytes }: Pick<SandboxLimits, 'memoryBytes'>,
): V1Volume {
  const bounded = memoryBytes === null ? bytes : Math.min(bytes, Math.floor(memoryBytes * TMPFS_SHARE_MAX));
  return { name, emptyDir: { medium: 'Memory', sizeLimit: String(bounded) } };
}

function initArguments({ options, routes }: PodOrder): readonly string[] {
  const bridges = HOST_SOCKET_NAMES.flatMap((name) => ['--bridge', `${BOUND_PORTS[name]}=${routes[name]}`]);
  const egress = routes.egress === null ? [] : ['--bridge', `${EGRESS_PORT}=${routes.egress}`];
  const entrance = ['--entrance', `${AGENT_PORT}=${socketOf(toolsUserOf(options))}`];
  const log = ['--log-bytes-max', String(LOG_BYTES_MAX)];
  const { sandboxInit, agentServer } = options.programs;
  return [sandboxInit, ...bridges, ...egress, ...entrance, ...log, '--', agentServer];
}

function socketOf(user: ToolsUser | null): string {
  return `${user === null ? INSIDE.agentSockets : INSIDE.serverSockets}/agent.sock`;
}

function agentEnvironment({
  options,
  marks,
  routes,
}: PodOrder): readonly { readonly name: string; readonly value: string }[] {
  const { agentServer, sandboxInit } = options.programs;
  const toolsUser = toolsUserOf(options);
  const view = {
    workspace: INSIDE.workspace,
    agent: toolsUser === null ? INSIDE.agent : INSIDE.serverState,
    home: INSIDE.home,
    node: 'node',
    // The image is unknown here, and its Node.js may stand anywhere in it.
    searchPath: null,
    agentServer,
    sandboxInit,
    agentSocket: socketOf(toolsUser),
    hostSockets: { proxy: '', webhook: '', git: '' },
    egressSocket: routes.egress,
    authorities: null,
    guard: null,
    toolbox: null,
    toolsUser,
  };
  const variables = insideEnvironment(view, { ...marks, ports: BOUND_PORTS });
  return Object.entries(variables).map(([name, value]) => ({ name, value }));
}

function resourcesOf({ options, limits }: PodOrder): V1ResourceRequirements {
  const { memoryBytes, cpus } = limits;
  const { requests } = options;
  const least = (wanted: number | null, limit: number | null): number | null =>
    wanted === null ? limit : limit === null ? wanted : Math.min(wanted, limit);
  return {
    limits: { ...quantities(memoryBytes, cpus), 'ephemeral-storage': NODE_DISK },
    requests: {
      ...quantities(least(requests.memoryBytes, memoryBytes), least(requests.cpus, cpus)),
      'ephemeral-storage': NODE_DISK,
    },
  };
}

function quantities(memoryBytes: number | null, cpus: number | null): Record<string, string> {
  return {
    ...(memoryBytes === null ? {} : { memory: String(memoryBytes) }),
    ...(cpus === null ? {} : { cpu: `${Math.round(cpus * 1_000)}m` }),
  };
}
