/**
 * Where the programs of tools run: in namespaces of their own below the Agent Server's, so that they can neither see,
 * signal nor trace it, and its state and socket are not there; or, in a container, as another user (D31).
 * Owns making that place and starting programs in it; a deployment without one starts them beside the server. The place
 * lasts as long as the server, because what a command leaves running must be there for the next one.
 */
import { spawn, type ChildProcess, type SpawnOptions, type StdioOptions } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { PLUGIN_CACHE } from './limits.ts';

/** Bubblewrap writes here which process it started; the program has only the descriptors below. */
const STATUS_DESCRIPTOR = 4;
/** Files as arguments, then the command: a library's own way to start a program passes on no further descriptors. */
const OPEN_FILES = 'exec 9<"$1"; shift; exec "$@"';
const OPEN_PLACE = 'exec 7<"$1" 8<"$2" 9<"$3"; shift 3; exec "$@"';
/**
 * Inside. The first argument names the variables of the program, which come under other names: what stands before it runs
 * where the server does, and a variable of a tool, such as `LD_PRELOAD`, must mean nothing there.
 */
const TAKE_ON = [
  'exec 4>&- 7<&- 8<&- 9<&-',
  'for __parley in $1; do eval "export $__parley=\\"\\${X_$__parley}\\""; unset "X_$__parley"; done',
  'shift; exec "$@"',
].join('; ');
const WITHOUT_CONTROL = `exec 3>&-; ${TAKE_ON}`;
const HIDDEN_PREFIX = 'X_';
/** Others cannot be set by a shell, or belong to it. */
const VARIABLE = /^(?!(?:PPID|UID|EUID|SHELLOPTS|BASHOPTS|IFS|__parley)$)[A-Za-z_][A-Za-z0-9_]*$/;
/**
 * Process 1 of the place: there until the server ends, and whatever is left behind is its to reap. Its own namespace
 * cannot end it. It says a line once it is there. activities/leftover-processes.ts knows it by its name.
 */
const KEEPER = [
  'bash',
  '-c',
  'exec 4>&- 9<&-; echo; exec >&-; while read -r line; do :; done',
  'parley-toolbox',
];

/** What changes more than one process when it is written; covered here, because the server must see all of `/proc`. */
const KERNEL_SETTINGS = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'pressure'].map(
  (name) => `/proc/${name}`,
);

/** What the runtime put beside the server; see runtimes/on-host/inside-view.ts. */
interface ToolboxParts {
  readonly bwrap: string;
  /** The filter of system calls that every tool gets. */
  readonly filter: string;
  /** Folders that tools do not see, and that are not opened for them. */
  readonly withheld: readonly string[];
  /** A folder in one of them that they share with the server. */
  readonly shared: string;
}

/** Null: tools run beside the server. */
function toolboxParts(environment: Readonly<Record<string, string | undefined>>): ToolboxParts | null {
  const bwrap = environment['PARLEY_TOOLBOX_BWRAP'] ?? '';
  const filter = environment['PARLEY_TOOLBOX_FILTER'] ?? '';
  const socket = environment['PARLEY_AGENT_SOCKET'] ?? '';
  const conversations = environment['OH_CONVERSATIONS_PATH'] ?? '';
  if ([bwrap, filter, socket, conversations].includes('')) return null;
  const withheld = serversFolders(environment);
  return { bwrap, filter, withheld, shared: join(conversations, PLUGIN_CACHE) };
}

/** Folders that tools do not see; empty where tools run beside the server. */
export function withheldFolders(): readonly string[] {
  const isApart = toolUser(process.env) !== null || toolboxParts(process.env) !== null;
  return isApart ? serversFolders(process.env) : [];
}

/** Of its state and of its socket. */
function serversFolders(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const own = [environment['OH_CONVERSATIONS_PATH'], environment['PARLEY_AGENT_SOCKET']];
  return own.flatMap((path) => (path === undefined || path === '' ? [] : [dirname(path)]));
}

export interface ToolProcess {
  readonly child: ChildProcess;
  /** To the program and its process group; nothing happens when they are gone. */
  signal(signal: NodeJS.Signals): void;
}

interface ToolOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** At most descriptors 0 to 3. */
  readonly stdio: readonly ('ignore' | 'pipe')[];
}

/** Starts a program that leads a process group. Resolves when it is on its way; an `error` event reports a failure. */
export async function startTool(
  program: string,
  args: readonly string[],
  { cwd, env, stdio }: ToolOptions,
): Promise<ToolProcess> {
  const user = toolUser(process.env);
  if (user !== null) {
    const command = [...takingOn(env, stdio.length > 3), program, ...args];
    const child = spawnAsUser(user, command, { cwd, env: hidden(env), stdio: [...stdio] });
    return { child, signal: (signal) => send(child, child.pid, signal) };
  }
  const parts = toolboxParts(process.env);
  if (parts === null) {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: [...stdio] });
    return { child, signal: (signal) => send(child, child.pid, signal) };
  }
  const status = ['--json-status-fd', String(STATUS_DESCRIPTOR)];
  const [command, ...rest] = entering(parts, await keeper(parts), [
    ...status,
    '--',
    ...takingOn(env, stdio.length > 3),
    program,
    ...args,
  ]);
  const four: StdioOptions = [0, 1, 2, 3].map((descriptor) => stdio[descriptor] ?? 'ignore');
  const surroundings = { cwd, env: hidden(env), detached: true, stdio: [...four, 'pipe'] };
  const child = spawn(command ?? '', rest, surroundings as SpawnOptions);
  return { child, signal: signalInside(child) };
}

/** Under names that mean nothing to a shell, to bubblewrap and to the loader of both. */
function hidden(env: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(env).filter(([name]) => VARIABLE.test(name));
  return Object.fromEntries(own.map(([name, value]) => [`${HIDDEN_PREFIX}${name}`, value]));
}

/** `rest` begins with further options of bubblewrap, and a `--` before the program. */
function entering(parts: ToolboxParts, keeperPid: number, rest: readonly string[]): readonly string[] {
  const place = ['user', 'pid'].map((name) => `/proc/${keeperPid}/ns/${name}`);
  return [
    ...['/bin/sh', '-c', OPEN_PLACE, 'sh', ...place, parts.filter],
    ...[parts.bwrap, '--userns', '7', '--pidns', '8', ...viewOf(parts), ...rest],
  ];
}

/** What a program is started through, so that it has its own variables, and no descriptors but its own. */
function takingOn(env: Readonly<Record<string, string>>, hasControl: boolean): readonly string[] {
  // Shorter ones first: one that begins with the prefix itself would be taken for the hidden one of another.
  const names = Object.keys(env).filter((name) => VARIABLE.test(name));
  const ordered = names.sort((a, b) => a.length - b.length);
  return ['/bin/sh', '-c', hasControl ? TAKE_ON : WITHOUT_CONTROL, 'sh', ordered.join(' ')];
}

/** All that the server sees, but for its own. Descriptor 9 gives the filter. */
function viewOf({ withheld, shared }: ToolboxParts): readonly string[] {
  return [
    ...['--dev-bind', '/', '/', '--proc', '/proc'],
    ...KERNEL_SETTINGS.flatMap((path) => ['--ro-bind-try', path, path]),
    // Read-only, because a file in memory would be memory without a bound.
    ...withheld.flatMap((folder) => ['--tmpfs', folder]),
    ...['--bind-try', shared, shared],
    ...withheld.flatMap((folder) => ['--remount-ro', folder]),
    ...['--cap-drop', 'ALL', '--seccomp', '9', '--new-session'],
  ];
}

let made: Promise<number> | null = null;

/** The number of the place's process 1; a place that has ended is made anew. */
function keeper(parts: ToolboxParts): Promise<number> {
  made ??= makePlace(parts).catch((error: unknown) => {
    made = null;
    throw error;
  });
  return made;
}

/** Ahead of the first tool, which would wait for it. Nothing is started where tools run beside the server. */
export function prepareToolbox(): void {
  const parts = toolboxParts(process.env);
  if (parts === null) return;
  mkdirSync(parts.shared, { recursive: true, mode: 0o700 });
  keeper(parts).catch(() => undefined);
}

function makePlace(parts: ToolboxParts): Promise<number> {
  const status = ['--json-status-fd', String(STATUS_DESCRIPTOR)];
  // Only here: programs that enter the place end with it. On its way in, bubblewrap's first half forks the second and
  // goes, and a program with `--die-with-parent` is killed where the first half goes late.
  const alone = ['--unshare-user', '--unshare-pid', '--as-pid-1', '--die-with-parent'];
  const own = [...alone, ...viewOf(parts), ...status, '--', ...KEEPER];
  const child = spawn('/bin/sh', ['-c', OPEN_FILES, 'sh', parts.filter, parts.bwrap, ...own], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'pipe', 'ignore', 'pipe'],
  });
  // Bubblewrap reports the number before users are mapped in the namespace, and who enters it by then has no user there.
  const isThere = new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(0, 1_000)));
  return new Promise((resolve, reject) => {
    const failed = (): void => {
      made = null;
      reject(new Error(`Cannot make the place of the tools: ${complaint.trim() || 'it ended'}`));
    };
    child.once('error', failed);
    child.once('close', failed);
    onStarted(child, (pid) => void isThere.then(() => resolve(pid)));
  });
}

/** A program that is signalled before bubblewrap has reported its number gets the signal then. */
function signalInside(child: ChildProcess): ToolProcess['signal'] {
  let pid: number | undefined;
  let early: NodeJS.Signals | null = null;
  onStarted(child, (started) => {
    pid = started;
    if (early !== null) send(child, pid, early);
  });
  return (signal) => {
    if (pid === undefined) early = early === 'SIGKILL' ? early : signal;
    else send(child, pid, signal);
  };
}

/** Bubblewrap's own JSON, of which only the number of its child is of interest. */
function onStarted(child: ChildProcess, started: (pid: number) => void): void {
  const status = child.stdio[STATUS_DESCRIPTOR] as Readable | null | undefined;
  let text = '';
  let isTold = false;
  status?.on('error', () => undefined);
  status?.on('data', (chunk: Buffer) => {
    text = isTold ? '' : text + chunk.toString();
    const pid = /"child-pid": (\d+)\D/.exec(text)?.[1];
    if (pid === undefined || isTold) return;
    isTold = true;
    started(Number(pid));
  });
}

function send(child: ChildProcess, pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  // A program that is just being started leads no group yet; the number of an ended one may be another process's.
  const isThere = child.exitCode === null && child.signalCode === null;
  for (const target of isThere ? [-pid, pid] : [-pid]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // The group is gone already, which is what was wanted.
    }
  }
}

const USER = /^(\d{1,10}):(\d{1,10})$/;
/** A folder that is never there: starting a program in it fails as in any other that is missing. */
const NO_FOLDER = '/proc/none';
/**
 * The server would enter a folder of its own that a link of a tool leads to, and the program would begin in it. So it is
 * entered by the tools' user.
 */
const ENTER = 'cd -- "$1" && shift && unset OLDPWD && exec "$@"';

interface ToolUser {
  readonly uid: number;
  readonly gid: number;
}

/** Null: tools run as the user of the server. */
function toolUser(environment: Readonly<Record<string, string | undefined>>): ToolUser | null {
  const [, uid, gid] = USER.exec(environment['PARLEY_TOOLBOX_USER'] ?? '') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/** Further groups of the server are not passed on: the system drops them with the change of user. */
function spawnAsUser(
  { uid, gid }: ToolUser,
  command: readonly string[],
  {
    cwd,
    env,
    stdio,
  }: { readonly cwd: string; readonly env: Record<string, string>; readonly stdio: StdioOptions },
): ChildProcess {
  const options: SpawnOptions = { env, uid, gid, detached: true, stdio };
  if (!isFolder(cwd)) return spawn('/bin/sh', [], { ...options, cwd: NO_FOLDER });
  return spawn('/bin/sh', ['-c', ENTER, 'sh', cwd, ...command], { ...options, cwd: '/' });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
