/**
 * Removing what an agent left behind.
 * Owns removal that never follows a symbolic link and is not stopped by modes. Only for trees nothing writes to any more.
 */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { isMissing } from './record-file.ts';

/** A missing path is success. @throws Error the system refuses, e.g. a file that belongs to another user */
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
  const root = Buffer.from(path);
  const pending: Buffer[] = [];
  await emptyInto(root, { root, pending });
  // Depth first without recursion: an agent may nest deeper than a call stack.
  while (pending.length > 0) {
    const dir = pending.at(-1);
    if (dir === undefined) return;
    const before = pending.length;
    await emptyInto(dir, { root, pending });
    if (pending.length === before) {
      await rmdir(dir).catch(missingIsNull);
      pending.pop();
    }
  }
}

interface Emptying {
  readonly root: Buffer;
  readonly pending: Buffer[];
}

/** Unlinks what is no directory and appends the directories found to `pending`. */
async function emptyInto(dir: Buffer, { root, pending }: Emptying): Promise<void> {
  await chmod(dir, 0o700).catch(() => null);
  const entries = await readdir(dir, { encoding: 'buffer', withFileTypes: true });
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const removing = entries.slice(at, at + AT_ONCE).map(async (entry) => {
      const path = Buffer.concat([dir, Buffer.from('/'), entry.name]);
      const isDirectory = entry.isDirectory() || (!entry.isFile() && (await lstat(path)).isDirectory());
      if (isDirectory) pending.push(path.length > PATH_BYTES_MAX ? await movedUp(path, root) : path);
      else await unlink(path).catch(missingIsNull);
    });
    await Promise.all(removing);
  }
}

/** An agent may leave tens of thousands, each of which would else wait for its turn in a process that is busy. */
const AT_ONCE = 32;

/** Below the system's own bound of 4,096 by more than the longest name and the path to the root. */
const PATH_BYTES_MAX = 2_048;

/** An agent may nest deeper than a path can say: a directory down there is emptied from the top. */
async function movedUp(path: Buffer, root: Buffer): Promise<Buffer> {
  const place = Buffer.concat([root, Buffer.from(`/${randomUUID()}`)]);
  // Without write permission on itself a directory cannot get another parent.
  await chmod(path, 0o700).catch(() => null);
  await rename(path, place);
  return place;
}

function missingIsNull(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
