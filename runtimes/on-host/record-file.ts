/**
 * What is written down about a sandbox before anything is started for it, so that a crash leaves nothing unknown.
 * Owns atomic writing and reading of one file, and what all runtimes note. Holds no secret: a session key goes through a pipe.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';

/**
 * The record, or null when there is none.
 * @throws ParleyError runtime_unreachable: a record exists and cannot be read, so nothing is known
 */
export async function readRecordFile<T>(path: string, parse: (value: unknown) => T): Promise<T | null> {
  try {
    return parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (isMissing(error)) return null;
    throw new ParleyError('runtime_unreachable', `Cannot read sandbox record "${path}": unreadable`, {
      cause: error,
    });
  }
}

/** Replaces the record in one step; it is on disk when this returns. The directory must exist. */
export async function writeRecordFile(path: string, record: unknown): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(record)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** What every runtime of this host writes down of a sandbox. */
export const RECORD_FIELDS = {
  version: z.literal(1),
  sandboxId: z.string(),
  generation: z.number().int().min(1),
  /** What was last ordered. `destroyed` stands until the files are gone: such a sandbox never starts again. */
  desired: z.enum(['up', 'stopped', 'destroyed']),
  /** Epoch milliseconds of the launch. */
  launchedAt: z.number(),
};

interface RecordFile<T> {
  readonly read: (place: { readonly record: string }) => Promise<T | null>;
  readonly write: (place: { readonly record: string }, record: T) => Promise<void>;
}

/** The record of a sandbox that lies there, as the two above. */
export function recordFile<T>(schema: z.ZodType<T>): RecordFile<T> {
  return {
    read: ({ record: path }) => readRecordFile(path, (value) => schema.parse(value)),
    write: ({ record: path }, record) => writeRecordFile(path, record),
  };
}

/** The system's answer "there is no such file". */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
