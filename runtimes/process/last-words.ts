/**
 * Why a sandbox died, as far as its log tells.
 * Owns reading the end of the log; its text was written by whatever ran inside, so it is bounded and made printable.
 */
import { open, readFile } from 'node:fs/promises';
import type { CrashCause } from '../../ports/sandbox-runtime.ts';
import { outOfMemoryKills } from './cgroups/sandbox-group.ts';
import { readBwrapStatus } from './incarnation.ts';
import { LAST_WORDS_BYTES_MAX, LAST_WORDS_LINES_MAX } from './limits.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** 128 plus the number of SIGKILL, as shells and bubblewrap tell it. */
const KILLED = 137;
/** What the disk watch leaves behind when it ended a sandbox. */
export const DISK_LIMIT = 'disk_limit';
const MARK = '[launch of generation ';

/** Line that separates the log of one incarnation from the one before. */
export function generationMark(generation: number): string {
  return `${MARK}${generation}]\n`;
}

export interface LastWords {
  readonly cause: CrashCause;
  /** One sentence: how it ended, where that is known, and the last lines since the launch. */
  readonly words: string;
}

export async function readLastWords(paths: SandboxPaths, record: SandboxRecord): Promise<LastWords> {
  const cause = await causeOf(paths, record);
  const lines = printableLines(await readEnd(paths.log));
  const how = sentenceOf(cause);
  return { cause, words: lines.length === 0 ? how : `${how}; its log ends with: ${lines.join(' | ')}` };
}

/** A tool that used up the memory is ended by the kernel and the sandbox goes on; only a kill of the agent counts. */
async function causeOf(paths: SandboxPaths, { group }: SandboxRecord): Promise<CrashCause> {
  const endedFor = await readFile(paths.endedFor, 'utf8').catch(() => '');
  if (endedFor.trim() === DISK_LIMIT) return { kind: DISK_LIMIT };
  const { exitCode } = await readBwrapStatus(paths.status);
  const mayBeKilled = exitCode === null || exitCode === KILLED;
  if (mayBeKilled && group !== null && (await outOfMemoryKills(group)) > 0) return { kind: 'out_of_memory' };
  return { kind: 'exit', exitCode };
}

function sentenceOf(cause: CrashCause): string {
  switch (cause.kind) {
    case 'disk_limit':
      return 'it kept more on disk than a sandbox may, and was ended';
    case 'out_of_memory':
      return 'it used up its memory, and the kernel ended it';
    case 'exit':
      return cause.exitCode === null ? 'its processes are gone' : `it ended with exit code ${cause.exitCode}`;
  }
}

function printableLines(text: string): readonly string[] {
  const markAt = text.lastIndexOf(MARK);
  const own = markAt === -1 ? text : text.slice(text.indexOf('\n', markAt) + 1);
  const lines = own.replace(/[^\P{Cc}\n]/gu, ' ').split('\n');
  return lines.filter((line) => line.trim() !== '').slice(-LAST_WORDS_LINES_MAX);
}

async function readEnd(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return '';
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, LAST_WORDS_BYTES_MAX));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await file.close();
  }
}
