/**
 * The sentence that is shown for a sandbox that ended by itself.
 * Owns its words; the log was written by whatever ran inside, so it is bounded and made printable.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { CrashCause, DiskBound } from '../../ports/sandbox-runtime.ts';
import { LAST_WORDS_LINES_MAX } from './limits.ts';

/** 128 plus the number of SIGKILL, as shells, bubblewrap and the Docker daemon report it. */
export const KILLED = 137;

export interface LastWords {
  readonly cause: CrashCause;
  /** One sentence: how it ended, where that is known, and the last lines since the launch. */
  readonly words: string;
}

/** What a disk watch leaves behind when it ended a sandbox. */
export const DISK_LIMIT = 'disk_limit';

/**
 * Leaves it behind, before the sandbox is ended. Once: a sandbox takes a moment to end and is inspected meanwhile, and
 * a reader of the file would find it empty while it is written again.
 */
export async function leaveDiskLimit(file: string, bound: DiskBound): Promise<void> {
  await writeFile(file, `${DISK_LIMIT} ${bound}\n`, { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

/** The cause that was left in that file; null when there is none. */
export async function diskLimitLeft(file: string): Promise<ReturnType<typeof diskLimitIn>> {
  return diskLimitIn(await readFile(file, 'utf8').catch(() => ''));
}

export function diskLimitIn(text: string): Extract<CrashCause, { kind: 'disk_limit' }> | null {
  const [kind, bound = 'bytes'] = text.trim().split(' ');
  return kind === DISK_LIMIT ? { kind, bound: BOUNDS.find((one) => one === bound) ?? 'bytes' } : null;
}

const WHAT_WAS_OVER: Readonly<Record<DiskBound, string>> = {
  bytes: 'it kept more on disk than a sandbox may',
  files: 'it kept more files on disk than a sandbox may',
  file_system: 'it kept the most files on disk while its file system had hardly any left',
  socket_folder: 'it made more files than it may where its socket is on disk',
};
const BOUNDS = Object.keys(WHAT_WAS_OVER) as readonly DiskBound[];

/** How it ended, where that is known, and the last lines of its log. */
export function lastWords(cause: CrashCause, log: string): string {
  const lines = log
    .replace(/[^\P{Cc}\n]/gu, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-LAST_WORDS_LINES_MAX);
  const how = sentenceOf(cause);
  return lines.length === 0 ? how : `${how}; its log ends with: ${lines.join(' | ')}`;
}

function sentenceOf(cause: CrashCause): string {
  switch (cause.kind) {
    case 'disk_limit':
      return `${WHAT_WAS_OVER[cause.bound ?? 'bytes']}, and was ended`;
    case 'out_of_memory':
      return 'it used up its memory, and the kernel ended it';
    case 'exit':
      return cause.exitCode === null ? 'its processes are gone' : `it ended with exit code ${cause.exitCode}`;
  }
}
