/**
 * Removing what an agent left behind.
 * Owns removal that never follows a symbolic link and is not stopped by modes. Only for trees nothing writes to any more.
 */
import { chmod, lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { isMissing } from './is-missing.ts';

/** A missing path is success. @throws Error the system refuses, e.g. a file that belongs to somebody else */
export async function removeTree(path: string): Promise<void> {
  const stat = await lstat(path).catch(missingIsNull);
  if (stat === null) return;
  if (!stat.isDirectory()) {
    await unlink(path).catch(missingIsNull);
    return;
  }
  await removeContents(path);
  await rmdir(path).catch(missingIsNull);
}

/** Removes everything in the directory and keeps it. Names are bytes, because an agent may choose any. */
export async function removeContents(path: string): Promise<void> {
  const pending: Buffer[] = [];
  await emptyInto(Buffer.from(path), pending);
  // Depth first without recursion: an agent may nest deeper than a call stack.
  while (pending.length > 0) {
    const dir = pending.at(-1);
    if (dir === undefined) return;
    const before = pending.length;
    await emptyInto(dir, pending);
    if (pending.length === before) {
      await rmdir(dir).catch(missingIsNull);
      pending.pop();
    }
  }
}

/** Unlinks what is no directory and appends the directories found to `pending`. */
async function emptyInto(dir: Buffer, pending: Buffer[]): Promise<void> {
  await chmod(dir, 0o700).catch(() => null);
  const entries = await readdir(dir, { encoding: 'buffer', withFileTypes: true });
  for (const entry of entries) {
    const path = Buffer.concat([dir, Buffer.from('/'), entry.name]);
    const isDirectory = entry.isDirectory() || (await lstat(path)).isDirectory();
    if (isDirectory) pending.push(path);
    else await unlink(path).catch(missingIsNull);
  }
}

function missingIsNull(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
