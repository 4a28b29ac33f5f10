/**
 * What is written down about a sandbox before anything is started for it, so that a crash leaves nothing unknown.
 * Owns atomic writing and reading of one file; the shape is the runtime's. Holds no secret.
 */
import { open, readFile, rename } from 'node:fs/promises';
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

/**
 * The system's answer "there is no such file".
 * Owns telling it from every other error.
 */

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
