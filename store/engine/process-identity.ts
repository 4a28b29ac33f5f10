/**
 * Which process a number means: numbers are given out again, the instant of a start is not.
 * Owns the ways to ask the system; must not decide what a dead process means.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A listing of one process takes milliseconds; past this the system is not answering. */
const LISTING_TIMEOUT_MS = 5_000;

/**
 * A mark that this process and no other of the same number has; null when there is none, or it is dead and only waits
 * for its parent. Exact on Linux (start in clock ticks, with the boot it belongs to); to the second elsewhere.
 */
export function processMark(pid: number): string | null {
  const boot = readText('/proc/sys/kernel/random/boot_id');
  return boot === null ? listedMark(pid) : procMark(pid, boot.trim());
}

function procMark(pid: number, boot: string): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The name in parentheses may hold anything, so the fields are counted after the last one: state first, start as 20th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const started = fields[19];
  return started === undefined || isDead(fields[0] ?? '') ? null : `${boot}/${started}`;
}

function listedMark(pid: number): string | null {
  const listing = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    timeout: LISTING_TIMEOUT_MS,
    env: { ...process.env, LC_ALL: 'C' },
  });
  const [state = '', ...started] = (listing.stdout ?? '').trim().split(/\s+/);
  return state === '' || isDead(state) ? null : started.join(' ');
}

function isDead(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X');
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
