/**
 * The host's process table.
 * Owns reading it, from /proc or, where there is none, from `ps`; must not send a signal.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readdir, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const HAS_PROC = existsSync('/proc/self/stat');
/** A process table has at most some ten thousand lines. */
const PS_BYTES_MAX = 8 * 1024 * 1024;
/** As the launch script has it: start instants are compared as text, so language and time zone must agree. */
const PS_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };

/** One process: its number and the instant it started, which together are never given out twice within one boot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; compared for equality. */
  readonly startedAt: string;
}

/** Whether exactly this process still runs; one that has ended and waits to be reaped does not. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await startOf(identity.pid)) === identity.startedAt;
}

/** When the process of that number started; null when there is none, or only its remains. */
export async function startOf(pid: number): Promise<string | null> {
  if (!HAS_PROC) return await startByPs(pid);
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : startOfStat(stat, await bootId());
}

/** The start instant in a line of /proc/PID/stat, with the boot it counts from. The name may hold anything. */
export function startOfStat(stat: string, boot: string): string | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const ticks = fields[19];
  return state === 'Z' || state === 'X' || ticks === undefined ? null : `${boot.trim()} ${ticks}`;
}

export async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'unknown')).trim();
}

/** The number the kernel gave the process's pid namespace; null when it is gone. */
export async function pidNamespaceOf(pid: number): Promise<number | null> {
  const link = await readlink(`/proc/${pid}/ns/pid`).catch(() => '');
  const inode = /^pid:\[(\d+)\]$/.exec(link)?.[1];
  return inode === undefined ? null : Number(inode);
}

/** The number a process has inside its own innermost pid namespace. */
export async function innerPidOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const inner = /^NSpid:.*\t(\d+)$/m.exec(status)?.[1];
  return inner === undefined ? null : Number(inner);
}

/** Direct children of a process. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  return (await parents()).filter(([, parent]) => parent === pid).map(([child]) => child);
}

/** Every process below `pid`, without it. */
export async function descendantsOf(pid: number): Promise<readonly number[]> {
  const table = await parents();
  const found = new Set([pid]);
  let before = 0;
  while (found.size !== before) {
    before = found.size;
    for (const [child, parent] of table) if (found.has(parent)) found.add(child);
  }
  found.delete(pid);
  return [...found];
}

/** Processes that were started with one of these `NAME=value` in their environment; none where there is no /proc. */
export async function processesWith(variables: readonly string[]): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await numbersInProc()) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    const isMarked = environment.split('\0').some((entry) => variables.includes(entry));
    if (isMarked && (await startOf(pid)) !== null) found.push(pid);
  }
  return found;
}

async function parents(): Promise<readonly (readonly [number, number])[]> {
  if (!HAS_PROC) return await parentsByPs();
  const table: [number, number][] = [];
  for (const pid of await numbersInProc()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    if (stat !== null) table.push([pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]);
  }
  return table;
}

async function numbersInProc(): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

async function startByPs(pid: number): Promise<string | null> {
  const output = await run('ps', ['-o', 'lstart=', '-p', String(pid)], { env: PS_ENVIRONMENT }).catch(
    () => null,
  );
  const text = output?.stdout.trim() ?? '';
  return text === '' ? null : text;
}

async function parentsByPs(): Promise<readonly (readonly [number, number])[]> {
  const output = await run('ps', ['-axo', 'pid=,ppid='], { maxBuffer: PS_BYTES_MAX }).catch(() => null);
  const lines = (output?.stdout ?? '').split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return lines.flatMap(([pid, parent]) =>
    pid === undefined || parent === undefined ? [] : [[pid, parent] as const],
  );
}

/** Users, by number, that any process of the host has: its own, its effective and its saved one. */
export async function usersOfProcesses(): Promise<ReadonlySet<number>> {
  const users = new Set<number>();
  const pids = HAS_PROC ? (await readdir('/proc')).filter((name) => /^\d+$/.test(name)) : [];
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    for (const user of /^Uid:\t([\d\t]+)$/m.exec(status)?.[1]?.split('\t') ?? []) users.add(Number(user));
  }
  return users;
}
