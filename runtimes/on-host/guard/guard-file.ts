/**
 * The object that closes a process to others, as a file that a sandbox can load.
 * Owns writing it; its bytes are in guard-object.ts.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guardObject } from './guard-object.ts';

/** Writes the object that closes a process to others; its path, or null where there is none. */
export async function prepareGuard(dir: string): Promise<string | null> {
  const bytes = guardObject(process.arch);
  if (bytes === null) return null;
  await mkdir(dir, { recursive: true, mode: 0o755 });
  const file = join(dir, 'guard.node');
  await writeFile(file, bytes, { mode: 0o644 });
  return file;
}
