/**
 * Collected results and reports as plain files: `<root>/<run>/<key>/<name>`.
 * Owns the layout and safe names; a file is replaced whole or not at all.
 */
import type { Dirent } from 'node:fs';
import { mkdir, opendir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ParleyError } from '../core/parley-error.ts';
import type { Results } from '../ports/results.ts';

/** Item keys may hold slashes; a part is any name a file system takes, but no way up and no control character. */
const PART_PATTERN = /^[^/\\\p{Cc}]+$/u;

export function createResultsDirectory(root: string): Results {
  const pathOf = ({ runId, key, name }: Parameters<Results['read']>[0]): string => {
    const parts = [runId, ...(key === null ? [] : key.split('/')), ...name.split('/')];
    const odd = parts.find((part) => part === '.' || part === '..' || !PART_PATTERN.test(part));
    if (odd !== undefined)
      throw new ParleyError(
        'invalid_request',
        `Cannot keep the result "${name}": "${odd}" is not a plain name`,
      );
    return join(root, ...parts);
  };
  return {
    write: (file, content) => replace(pathOf(file), content),
    read: (file) => readOrNull(pathOf(file)),
    names: (runId, countMax) => namesBelow(join(root, runId), countMax),
    location: (runId) => join(root, runId),
  };
}

let writes = 0;

async function replace(path: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  // Beside it under a name of its own: one as long as a file system takes leaves no room behind it.
  const aside = join(dirname(path), `.${process.pid}.${(writes += 1)}.part`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(aside, content, { flush: true });
    await rename(aside, path);
  } catch (cause) {
    await rm(aside, { force: true }).catch(() => undefined);
    throw new ParleyError('collect_failed', `Cannot write the result "${path}": ${String(cause)}`, { cause });
  }
}

async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Folders are read one by one, so that no more names are held than are wanted. What is being written has no name yet. */
async function namesBelow(root: string, countMax: number): Promise<readonly string[]> {
  const names: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && !PART_OF_WRITE.test(entry.name)) names.push(relative(root, path));
      if (names.length >= countMax) return names.sort();
    }
  }
  return names.sort();
}

const PART_OF_WRITE = /\.\d+\.part$/;

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries: Dirent[] = [];
    for await (const entry of await opendir(folder)) entries.push(entry);
    return entries;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
