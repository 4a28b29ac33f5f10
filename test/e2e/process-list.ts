/**
 * Which processes belong to a folder, and what their command lines show, as the system reports them.
 * Owns the reading of /proc; must not end a process.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Often enough to see a command that runs for a moment, seldom enough to cost little. */
const SAMPLE_EVERY_MS = 100;

/** A process that was ended is still listed until the system has taken it down: soon, but not at once on a busy machine. */
const GONE_WITHIN_MS = 180_000;
const POLL_EVERY_MS = 20;

export interface RunningProcess {
  readonly pid: number;
  readonly commandLine: string;
}

/** All but this one that name `folder`: in arguments, environment, working directory, or what is mounted for them. */
export function processesOf(folder: string): readonly RunningProcess[] {
  return processIds().flatMap((pid) => {
    if (pid === process.pid) return [];
    const commandLine = read(pid, 'cmdline');
    // A process that has ended and waits to be noticed has no command line, and nothing to leave behind.
    if (commandLine === '') return [];
    const names = [commandLine, workingDir(pid), read(pid, 'environ'), read(pid, 'mountinfo')];
    return names.some((text) => text.includes(folder)) ? [{ pid, commandLine }] : [];
  });
}

/** Those of `folder` that stay: what is on its way out is waited for, and what was left behind is there however long. */
export async function leftProcesses(
  folder: string,
  ...except: readonly number[]
): Promise<readonly RunningProcess[]> {
  const untilMs = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const left = processesOf(folder).filter(({ pid }) => !except.includes(pid));
    if (left.length === 0 || performance.now() > untilMs) return left;
    await sleep(POLL_EVERY_MS);
  }
}

/** Collects every command line of the machine until it is stopped. */
export function sampleCommandLines(): { stop(): readonly string[] } {
  const seen = new Set<string>();
  const sample = (): void => {
    for (const pid of processIds()) seen.add(read(pid, 'cmdline'));
  };
  sample();
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return [...seen];
    },
  };
}

function processIds(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Empty when the process is gone, or belongs to another user. */
function read(pid: number, file: 'cmdline' | 'environ' | 'mountinfo'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function workingDir(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
