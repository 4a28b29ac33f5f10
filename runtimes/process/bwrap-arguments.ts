/**
 * The command line of bubblewrap.
 * Owns what a sandbox sees of the host: everything is bound in one by one, and nothing is inherited.
 * Process lists show these arguments, so no secret is among them.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HostSockets } from '../on-host/host-sockets.ts';
import { HOST_SOCKET_NAMES, INSIDE, compiledAgent } from '../on-host/inside-view.ts';
import { TMPFS_BYTES_MAX, TMPFS_SHARE_MAX } from '../on-host/limits.ts';
import type { SandboxPaths } from './sandbox-paths.ts';

/** A user without a name on the host; files outside belong to the user who runs the host. */
const INSIDE_UID = '1000';
/** Directories of the old layout; symbolic links into /usr on most systems, real directories on some. */
const USR_LINKS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
/** The few files of /etc that programs need. Keys lie beside the certificates, so only these two are bound. */
const ETC_BOUND = ['ssl/certs', 'ssl/openssl.cnf', 'pki/tls/certs', 'ld.so.cache', 'alternatives'];

/** Of a folder that holds mounts and nothing else. */
const WAYS_BYTES_MAX = 64 * 1024;
/** Directories and files of /proc that change the whole machine when they are written. */
const KERNEL_SETTINGS = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'mtrr', 'pressure', 'scsi'].map(
  (name) => `/proc/${name}`,
);

/** What a namespace needs besides the sandbox's own directories. */
interface NamespaceParts {
  /** Read-only binds of programs that are not below /usr: the Node.js that runs us, and what the deployment shares. */
  readonly nodeBinds: readonly Bind[];
  readonly programs: { readonly agentServer: string; readonly sandboxInit: string };
  readonly hostSockets: HostSockets;
  readonly egressSocket: string | null;
  /** On the host; null where programs inside trust their own. */
  readonly authorities: string | null;
  /** On the host; null where there is none. */
  readonly guard: string | null;
  /** The filter of tools, on the host; null where they have no place of their own. */
  readonly toolFilter: string | null;
  readonly seals: Seals;
  /** Bound of the whole sandbox, file systems in memory included; null: none. */
  readonly memoryBytes: number | null;
}

/** What a version of bubblewrap and a processor offer. */
export interface Seals {
  /** Forbids further user namespaces; bubblewrap 0.8 and newer. The filter forbids them too. */
  readonly disablesUserns: boolean;
  /** Whether the system call filter comes in through descriptor 4. */
  readonly filters: boolean;
  /** Whether the Agent Server can make a place of their own for its tools, which takes namespaces below these. */
  readonly nests: boolean;
}

export interface Bind {
  readonly from: string;
  readonly to: string;
}

/** Namespaces, no privileges and an empty world with /usr in it: what the trial run and every sandbox have in common. */
export function isolationArguments(
  { disablesUserns, filters, nests }: Seals,
  memoryBytes: number | null = null,
): readonly string[] {
  const unshared = ['user', 'pid', 'net', 'ipc', 'uts', 'cgroup-try'].map((name) => `--unshare-${name}`);
  const nobody = ['--uid', INSIDE_UID, '--gid', INSIDE_UID, '--hostname', 'sandbox', '--cap-drop', 'ALL'];
  const world = ['--ro-bind', '/usr', '/usr', ...usrLinks(), ...kernelFiles(nests), '--dev', '/dev'];
  const memory = Object.entries(TMPFS_BYTES_MAX).flatMap(([path, bytes]) => [
    '--size',
    String(memoryBytes === null ? bytes : Math.min(bytes, Math.floor(memoryBytes * TMPFS_SHARE_MAX))),
    '--tmpfs',
    path,
  ]);
  return [
    ...unshared,
    ...(disablesUserns && !nests ? ['--disable-userns'] : []),
    ...(filters ? ['--seccomp', '4'] : []),
    '--new-session',
    ...nobody,
    ...world,
    ...memory,
    // A file beside the devices would be memory without a bound.
    ...['--remount-ro', '/dev'],
    '--dir',
    INSIDE.home,
  ];
}

/**
 * Everything between `bwrap` and the first program. Descriptor 3 receives the status, 4 gives the filter. `at` says where
 * bubblewrap finds what lies at a path of ours.
 */
export function sandboxArguments(
  parts: NamespaceParts,
  paths: SandboxPaths,
  at: (path: string) => string = (path) => path,
): readonly string[] {
  const bind = (option: string, binds: readonly Bind[]): readonly string[] =>
    binds.flatMap(({ from, to }) => [option, at(from), to]);
  const compiled = compiledAgent(parts.programs.agentServer);
  // A file system of its own: `/run` is the tools', which could move it away and put their own in its place.
  const ways = ['--size', String(WAYS_BYTES_MAX), '--tmpfs', INSIDE.run];
  const writable = bind('--bind', [
    { from: paths.workspace, to: INSIDE.workspace },
    { from: paths.agent, to: INSIDE.agent },
    { from: paths.offeredDir, to: INSIDE.agentSockets },
  ]);
  const readable = bind('--ro-bind', [
    ...HOST_SOCKET_NAMES.map((name) => ({
      from: dirname(parts.hostSockets[name]),
      to: join(INSIDE.hostSockets, name),
    })),
    ...(parts.egressSocket === null ? [] : [{ from: dirname(parts.egressSocket), to: INSIDE.egressSocket }]),
    ...(parts.authorities === null ? [] : [{ from: parts.authorities, to: INSIDE.authorities }]),
    ...(parts.guard === null ? [] : [{ from: parts.guard, to: INSIDE.guard }]),
    ...(parts.toolFilter === null ? [] : [{ from: parts.toolFilter, to: INSIDE.toolFilter }]),
    ...parts.nodeBinds,
    { from: parts.programs.agentServer, to: INSIDE.agentServer },
    ...(compiled === null ? [] : [{ from: compiled, to: INSIDE.compiledAgent }]),
    { from: parts.programs.sandboxInit, to: INSIDE.sandboxInit },
    ...['passwd', 'group', 'hosts', 'nsswitch.conf'].map((name) => ({
      from: join(paths.etc, name),
      to: join('/etc', name),
    })),
  ]);
  const optional = bind(
    '--ro-bind-try',
    ETC_BOUND.map((name) => ({ from: join('/etc', name), to: join('/etc', name) })),
  );
  // What is left of the root is memory too, and unowned: only the binds and the file systems above stay writable.
  const sealed = ['/', INSIDE.run].flatMap((path) => ['--remount-ro', path]);
  const end = [...sealed, '--chdir', INSIDE.workspace, '--json-status-fd', '3', '--'];
  return [
    ...isolationArguments(parts.seals, parts.memoryBytes),
    ...optional,
    ...ways,
    ...writable,
    ...readable,
    ...end,
  ];
}

/**
 * Root of the host stays root to the kernel's settings, whatever it is called inside: their files check the number
 * of the user and no capability. So they are bound over, read-only; but not where a place for tools is made, for the
 * kernel shows files of processes anew only to a process that sees all of them. There no process is root of the host.
 */
function kernelFiles(nests: boolean): readonly string[] {
  if (nests) return ['--proc', '/proc'];
  const settings = KERNEL_SETTINGS.flatMap((path) => ['--ro-bind-try', path, path]);
  return ['--proc', '/proc', ...settings];
}

function usrLinks(): readonly string[] {
  return USR_LINKS.flatMap((name) => {
    const path = `/${name}`;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return stat.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}
