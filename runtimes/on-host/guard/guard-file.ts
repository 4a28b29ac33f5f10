/**
 * The object that closes a process to others, as a file that a sandbox can load.
 * Owns its bytes and writing them.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCallObject } from './system-call-object.ts';

/** Writes the object that closes a process to others; its path, or null where there is none. */
export async function prepareGuard(dir: string): Promise<string | null> {
  const bytes = guardObject(process.arch);
  if (bytes === null) return null;
  await mkdir(dir, { recursive: true, mode: 0o755 });
  const file = join(dir, 'guard.node');
  await writeFile(file, bytes, { mode: 0o644 });
  return file;
}

const PR_SET_DUMPABLE = 4;

/** Null for a processor it was not written for. */
export function guardObject(processor: string): Uint8Array | null {
  return systemCallObject(processor, { number: { x64: 157, arm64: 167 }, args: [PR_SET_DUMPABLE, 0, 0] });
}
