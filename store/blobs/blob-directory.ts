/**
 * Archives and collected results as files below one directory.
 * Owns that a blob is whole and durable or not there at all; must not know what it contains.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { BlobStore } from '../../ports/blob-store.ts';
import { ASIDE, blobKeyParts } from './blob-key.ts';
import { makeDirectory, syncDirectory } from './directory-sync.ts';

export interface BlobDirectory extends BlobStore {
  /** Removes what a killed process left half written; only while no other process writes. Returns how many. */
  removeUnfinished(): Promise<number>;
}

/**
 * Blobs below `root`, which is made on the first write.
 * @throws ParleyError invalid_request for a key that is no plain relative path
 */
export function createBlobDirectory(
  root: string,
  options: { readonly uniqueName?: () => string } = {},
): BlobDirectory {
  const uniqueName = options.uniqueName ?? randomUUID;
  const aside = path.join(root, ASIDE);
  return {
    put: (key, content) =>
      put({ target: blobPath(root, key), temporary: path.join(aside, uniqueName()) }, content),
    async get(key) {
      const file = blobPath(root, key);
      const found = await stat(file).catch(nullWhenMissing);
      return found?.isFile() === true ? readBlob(file) : null;
    },
    async remove(key) {
      const file = blobPath(root, key);
      const found = await stat(file).catch(nullWhenMissing);
      if (found?.isFile() !== true) return;
      await rm(file, { force: true });
      await syncDirectory(path.dirname(file));
    },
    async removeUnfinished() {
      const names = (await readdir(aside).catch(nullWhenMissing)) ?? [];
      for (const name of names) await rm(path.join(aside, name), { force: true });
      return names.length;
    },
  };
}

async function put(
  place: { readonly target: string; readonly temporary: string },
  content: AsyncIterable<Uint8Array> | Uint8Array,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const { target, temporary } = place;
  await makeDirectory(path.dirname(temporary));
  await makeDirectory(path.dirname(target));
  const file = await open(temporary, 'wx', 0o600);
  try {
    const written = await writeAll(file, content).finally(() => file.close());
    await rename(temporary, target);
    await syncDirectory(path.dirname(target));
    return written;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeAll(
  file: FileHandle,
  content: AsyncIterable<Uint8Array> | Uint8Array,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content instanceof Uint8Array ? [content] : content) {
    await file.writeFile(chunk);
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  await file.sync();
  return { bytes, sha256: hash.digest('hex') };
}

/** Opens when the first chunk is read, so that an unread stream holds no file open. */
async function* readBlob(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file) as AsyncIterable<Buffer>;
}

function blobPath(root: string, key: string): string {
  return path.join(root, ...blobKeyParts(key));
}

function nullWhenMissing(error: unknown): null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}
