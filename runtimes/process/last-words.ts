/**
 * Why a sandbox died, as far as its log tells.
 * Owns reading the end of the log; its text was written by whatever ran inside, so it is bounded and made printable.
 */
import { open } from 'node:fs/promises';
import { readBwrapStatus } from './incarnation.ts';
import { LAST_WORDS_BYTES_MAX, LAST_WORDS_LINES_MAX } from './limits.ts';
import type { SandboxPaths } from './sandbox-paths.ts';

const MARK = '[launch of generation ';

/** Line that separates the log of one incarnation from the one before. */
export function generationMark(generation: number): string {
  return `${MARK}${generation}]\n`;
}

/** One sentence: the exit code where it is known, and the last lines since the launch. */
export async function readLastWords(paths: SandboxPaths): Promise<string> {
  const { exitCode } = await readBwrapStatus(paths.status);
  const code = exitCode === null ? 'its processes are gone' : `it ended with exit code ${exitCode}`;
  const lines = printableLines(await readEnd(paths.log));
  return lines.length === 0 ? code : `${code}; its log ends with: ${lines.join(' | ')}`;
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
