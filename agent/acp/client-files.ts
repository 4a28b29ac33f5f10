/**
 * Files of the sandbox that an agent reads and writes through its client. Owns bounds and the choice of lines; how files
 * are reached, and which are not, is the part of tool-files.ts.
 */
import { isAbsolute } from 'node:path';

import { z } from 'zod';

import { EDITOR_FILE_BYTES_MAX } from '../limits.ts';
import { openReachable, writeReachable } from '../tool-files.ts';

const pathSchema = z.string().min(1).max(4_096).refine(isAbsolute, 'Expected an absolute path');

export const readFileSchema = z.looseObject({
  path: pathSchema,
  /** The first line that is wanted, from 1. */
  line: z.number().int().min(0).nullish(),
  limit: z.number().int().min(0).nullish(),
});
export const writeFileSchema = z.looseObject({ path: pathSchema, content: z.string() });

/** @throws Error the file cannot be read, with the reason */
export async function readTextFile({
  path,
  line,
  limit,
}: z.infer<typeof readFileSchema>): Promise<{ readonly content: string }> {
  const file = await openReachable(path);
  try {
    const { size } = await file.stat();
    if (size > EDITOR_FILE_BYTES_MAX)
      throw new Error(`Cannot read "${path}": it is larger than ${EDITOR_FILE_BYTES_MAX} bytes`);
    const text = (await file.readFile()).toString('utf8');
    if ((line ?? null) === null && (limit ?? null) === null) return { content: text };
    const first = Math.max(0, (line ?? 1) - 1);
    const lines = text.split('\n');
    return { content: lines.slice(first, limit == null ? lines.length : first + limit).join('\n') };
  } finally {
    await file.close();
  }
}

/** @throws Error the file cannot be written, with the reason */
export async function writeTextFile({
  path,
  content,
}: z.infer<typeof writeFileSchema>): Promise<Record<string, never>> {
  if (Buffer.byteLength(content) > EDITOR_FILE_BYTES_MAX)
    throw new Error(`Cannot write "${path}": it is larger than ${EDITOR_FILE_BYTES_MAX} bytes`);
  await writeReachable(path, content);
  return {};
}
