/**
 * A machine made of Linux namespaces: mounts and processes of its own, and a disk that no other machine sees.
 * Owns its start, the programs in it, and its sudden end, as in a power cut, which the disk survives. Where namespaces
 * are not permitted its programs are plain processes with a folder of their own, and there is no power to cut.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

export interface Machine {
  readonly name: string;
  /** As its programs see it. */
  readonly disk: string;
  /** The same folder, as this process sees it. */
  readonly diskFromHere: string;
  readonly isApart: boolean;
  isUp(): boolean;
  start(): Promise<void>;
  /** Kills all its processes at once, so that none sends what it had pending. */
  cutPower(): Promise<void>;
  /** A command line that runs `program` there. */
  enter(program: readonly string[]): readonly string[];
  /** Command lines of what runs there, but for the machine itself. */
  processes(): readonly string[];
}

/** Why no machine can be made here; null when one can. */
export function machinesMissing(): string | null {
  const probe = ['--mount', '--pid', '--fork', '--mount-proc', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'];
  const { status, stderr, error } = spawnSync('unshare', probe, { encoding: 'utf8' });
  if (status === 0) return null;
  if (error !== undefined) return 'unshare is not installed';
  return `unshare is not permitted: ${stderr.trim().split('\n').at(-1) ?? ''}`;
}

/** `root`: the folder of the cluster, which all machines see except for the disks of others. */
export function makeMachine(root: string, name: string, isApart: boolean): Machine {
  const disks = path.join(root, 'disks');
  const outside = path.join(disks, name);
  mkdirSync(outside, { recursive: true });
  return isApart ? new NamespaceMachine(root, name, outside) : plainMachine(name, outside);
}

function plainMachine(name: string, disk: string): Machine {
  return {
    ...{ name, disk, diskFromHere: disk, isApart: false },
    isUp: () => true,
    start: () => Promise.resolve(),
    cutPower: () => Promise.reject(new Error(`${name} is no machine of its own`)),
    enter: (program) => program,
    processes: () => processesBelow('/proc', (pid) => environmentOf(pid).includes(`${disk}/`)),
  };
}

class NamespaceMachine implements Machine {
  readonly name: string;
  readonly isApart = true;
  readonly disk: string;
  readonly diskFromHere: string;
  readonly #root: string;
  #child: ChildProcess | null = null;
  #first = 0;

  constructor(root: string, name: string, diskFromHere: string) {
    this.name = name;
    this.diskFromHere = diskFromHere;
    // Control groups are shared by the whole host, and an installation finds its own by this path.
    this.disk = path.join(root, name);
    this.#root = root;
    mkdirSync(this.disk, { recursive: true });
  }

  isUp(): boolean {
    return this.#child !== null;
  }

  async start(): Promise<void> {
    const script = [
      `mount --bind '${this.diskFromHere}' '${this.disk}'`,
      `mount -t tmpfs tmpfs '${path.join(this.#root, 'disks')}'`,
      'echo up',
      // The first process reaps orphaned processes.
      'while :; do sleep 86400 & wait; done',
    ].join(' && ');
    const flags = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const child = spawn('unshare', [...flags, 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error(`the machine ${this.name} does not start`))),
    ]);
    this.#first = childOf(child.pid ?? 0);
    this.#child = child;
  }

  async cutPower(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null) return;
    const gone = once(child, 'exit');
    // The end of its first process ends all others of the namespace.
    process.kill(this.#first, 'SIGKILL');
    await gone;
  }

  enter(program: readonly string[]): readonly string[] {
    return ['nsenter', '--target', String(this.#first), '--mount', '--pid', '--', ...program];
  }

  processes(): readonly string[] {
    const proc = `/proc/${this.#first}/root/proc`;
    return this.#child === null ? [] : processesBelow(proc, () => true).filter((line) => !isOwn(line));
  }
}

const isOwn = (line: string): boolean => line.startsWith('sh -c mount ') || line === 'sleep 86400';

/** The only child of a process; 0 while it has none. */
export function childOf(pid: number): number {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim().split(' ')[0] ?? 0) : 0;
}

function processesBelow(proc: string, isMeant: (pid: string) => boolean): readonly string[] {
  if (!existsSync(proc)) return [];
  const ids = readdirSync(proc).filter((name) => /^\d+$/.test(name) && isMeant(name));
  // A zombie process has no command line.
  return ids.map((pid) => textOf(`${proc}/${pid}/cmdline`)).filter((line) => line !== '');
}

const environmentOf = (pid: string): string =>
  Number(pid) === process.pid ? '' : textOf(`/proc/${pid}/environ`);

/** Empty for a process that has ended meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
