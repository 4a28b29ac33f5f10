/**
 * Why a sandbox died, as far as its log says.
 * Owns reading the end of the log; its text was written by whatever ran inside, so it is bounded and made printable.
 */
import { open } from 'node:fs/promises';
import type { CrashCause } from '../../ports/sandbox-runtime.ts';
import { outOfMemoryKills } from './cgroups/sandbox-group.ts';
import { diskLimitLeft, KILLED, lastWords, type LastWords } from '../on-host/last-words.ts';
import { readBwrapStatus } from './incarnation.ts';
import { LAST_WORDS_BYTES_MAX } from '../on-host/limits.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import type { SandboxRecord } from './sandbox-record.ts';

const MARK = '[launch of generation ';

/** Line that separates the log of one incarnation from the one before. */
export function generationMark(generation: number): string {
  return `${MARK}${generation}]\n`;
}

export async function readLastWords(paths: SandboxPaths, record: SandboxRecord): Promise<LastWords> {
  const cause = await causeOf(paths, record);
  return { cause, words: lastWords(cause, ownLog(await readEnd(paths.log))) };
}

/** A tool that used up the memory is ended by the kernel and the sandbox goes on; only a kill of the agent counts. */
async function causeOf(paths: SandboxPaths, { group }: SandboxRecord): Promise<CrashCause> {
  const overDisk = await diskLimitLeft(paths.endedFor);
  if (overDisk !== null) return overDisk;
  const { exitCode } = await readBwrapStatus(paths.status);
  const mayBeKilled = exitCode === null || exitCode === KILLED;
  if (mayBeKilled && group !== null && (await outOfMemoryKills(group)) > 0) return { kind: 'out_of_memory' };
  return { kind: 'exit', exitCode };
}

/** What was printed since the launch. */
function ownLog(text: string): string {
  const markAt = text.lastIndexOf(MARK);
  return markAt === -1 ? text : text.slice(text.indexOf('\n', markAt) + 1);
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
