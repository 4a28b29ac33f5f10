/**
 * Collected results and reports as plain files: `<root>/<run>/<key>/<name>`.
 * Owns the layout, safe names, and where a run began to keep its results; a file is replaced whole or not at all.
 */
import { readFileSync, type Dirent } from 'node:fs';
import { link, lstat, mkdir, open, opendir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { LocalResults, ResultFile, ResultName } from '../../ports/results.ts';

/** Item keys may hold slashes; a part is any file name without control characters, but not `.` or `..`. */
const PART_PATTERN = /^[^/\\\p{Cc}]+$/u;

/**
 * `notes` is a folder of the installation that stores the root of each run, so that its results stay together when
 * another process continues the run from another folder; null where none does.
 */
export function createResultsDirectory(root: string, notes: string | null = null): LocalResults {
  const noted = new Map<RunId, string>();
  const known = (runId: RunId): string | null => {
    const found = noted.get(runId) ?? (notes === null ? null : readNote(join(notes, runId)));
    if (found !== null) noted.set(runId, found);
    return found;
  };
  const rootOf = (runId: RunId): string => known(runId) ?? root;
  const note = async (runId: RunId): Promise<void> => {
    if (notes === null || known(runId) !== null) return;
    await mkdir(notes, { recursive: true });
    // The first note stays; `link` makes it visible only once its content is written.
    const aside = join(notes, `.${process.pid}.${(writes += 1)}.part`);
    try {
      await writeFile(aside, root);
      await link(aside, join(notes, runId)).catch(unlessThere);
    } finally {
      await rm(aside, { force: true });
    }
  };
  const pathOf = (file: ResultName): string => join(rootOf(file.runId), ...resultParts(file));
  const folder = (runId: RunId): string => join(rootOf(runId), runId);
  return {
    async write(file, content) {
      pathOf(file);
      await note(file.runId);
      await replace(pathOf(file), content);
    },
    read: async (file, bytesMax) => await readOrNull(pathOf(file), bytesMax),
    async files({ runId, key }, countMax) {
      const below = join(
        rootOf(runId),
        runId,
        ...(key === null ? [] : resultParts({ runId, key, name: '-' }).slice(1, -1)),
      );
      return await filesOf(below, await namesBelow(below, countMax));
    },
    names: (runId, countMax) => namesBelow(folder(runId), countMax),
    location: folder,
    folder,
    async fetch(runId, isWanted) {
      const names = (await namesBelow(folder(runId), Infinity)).filter(isWanted);
      return { files: names.map((name) => join(folder(runId), name)), left: [] };
    },
  };
}

/** The parts of run, key and name. @throws ParleyError invalid_request for a path that leads elsewhere */
export function resultParts({ runId, key, name }: ResultName): readonly string[] {
  const parts = [runId, ...(key === null ? [] : key.split('/')), ...name.split('/')];
  const odd = parts.find((part) => !isPlain(part));
  if (odd === undefined) return parts;
  throw new ParleyError('invalid_request', `Cannot keep the result "${name}": "${odd}" is not a plain name`);
}

/** Whether a path below a run's folder may be one of its results. */
export function isResultName(name: string): boolean {
  return name.split('/').every(isPlain);
}

function isPlain(part: string): boolean {
  return part !== '.' && part !== '..' && PART_PATTERN.test(part);
}

function readNote(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST')
    throw new ParleyError('collect_failed', `Cannot note where results are: ${error.message}`, {
      cause: error,
    });
}

let writes = 0;

async function replace(path: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  // Beside it under an independent name, because a suffix could exceed the longest file name.
  const aside = join(dirname(path), `.${process.pid}.${(writes += 1)}.part`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(aside, content, { flush: true });
    await rename(aside, path);
  } catch (cause) {
    await rm(aside, { force: true }).catch(() => undefined);
    if (cause instanceof ParleyError) throw cause;
    throw new ParleyError('collect_failed', `Cannot write the result "${path}": ${String(cause)}`, { cause });
  }
}

async function readOrNull(path: string, bytesMax?: number): Promise<Uint8Array | null> {
  try {
    return bytesMax === undefined ? await readFile(path) : await beginningOf(path, bytesMax);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function beginningOf(path: string, bytesMax: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, bytesMax)), { position: 0 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Skips files that are gone meanwhile. */
async function filesOf(root: string, names: readonly string[]): Promise<readonly ResultFile[]> {
  const files: ResultFile[] = [];
  for (const name of names) {
    const found = await lstat(join(root, name)).catch(() => null);
    if (found !== null) files.push({ name, bytes: found.size });
  }
  return files;
}

/** Folders are read one by one, so that no more names are held than wanted. Files being written are skipped. */
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
