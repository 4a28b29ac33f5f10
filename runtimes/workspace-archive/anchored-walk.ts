/**
 * Reading a tree that something hostile may change at the same moment.
 * Owns a walk in which no symbolic link is ever followed: on Linux every step starts from an open directory, so that
 * swapping a directory for a link leads nowhere; elsewhere only the last step is safe. Must not interpret content.
 */
import { constants, existsSync } from 'node:fs';
import { lstat, open, readdir, readlink, type FileHandle } from 'node:fs/promises';

/** Directories open at once; deeper trees are noted, not entered. */
const DEPTH_MAX = 128;
/** Of one folder; while folders below it are walked none of them is open. */
const FILES_AT_ONCE = 32;
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Not blocking, because a file may have become a pipe since it was listed. */
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Unit of `stat.blocks`, whatever the file system's own. */
const BLOCK_BYTES = 512;
const HAS_FD_PATHS = existsSync('/proc/self/fd');

/** One thing found; `path` is relative to the root, with `/` between parts. */
export type WalkedEntry =
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number; readonly mtime: Date }
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly mode: number;
      readonly mtime: Date;
      readonly size: number;
      /** What it takes on disk: of a sparse file less than its size. */
      readonly blocksBytes: number;
      /** Open while the walk stands here, closed soon after it goes on. */
      readonly file: FileHandle;
    }
  | { readonly kind: 'link'; readonly path: string; readonly mtime: Date; readonly target: string }
  | { readonly kind: 'unreadable'; readonly path: string; readonly reason: string };

interface Directory {
  /** Path by which its entries are reached. */
  readonly anchor: string;
  readonly path: string;
  readonly depth: number;
}

/**
 * Parents before children, names in byte order. Sockets, pipes and devices are left out in silence.
 * @throws Error the root itself cannot be opened
 */
export async function* walkTree(root: string): AsyncGenerator<WalkedEntry> {
  const handle = await open(root, OPEN_DIRECTORY);
  try {
    yield* walkEntries({ anchor: anchorOf(handle, root), path: '', depth: 0 });
  } finally {
    await handle.close();
  }
}

async function* walkEntries(directory: Directory): AsyncGenerator<WalkedEntry> {
  const found = await sortedEntries(directory.anchor);
  for (let at = 0; at < found.length;) {
    const files = filesFrom(found, at);
    if (files.length > 0) yield* walkFiles(directory, files);
    else yield* walkOther(directory, found[at]);
    at += Math.max(1, files.length);
  }
}

/** A folder, a link, or what is listed as neither: each by itself, since a folder takes as long as it takes. */
async function* walkOther(directory: Directory, entry: Found | undefined): AsyncGenerator<WalkedEntry> {
  if (entry === undefined) return;
  const { path, name, isUtf8 } = named(directory, entry);
  if (!isUtf8) return yield NOT_UTF8(path);
  try {
    yield* walkEntry({ ...directory, path }, `${directory.anchor}/${name}`);
  } catch (error) {
    yield { kind: 'unreadable', path, reason: codeOf(error) };
  }
}

/**
 * Files that lie side by side are opened together: a sandbox that makes tens of thousands would else have each wait for
 * its turn in a process that is busy with others.
 */
async function* walkFiles(directory: Directory, files: readonly Found[]): AsyncGenerator<WalkedEntry> {
  yield* whileOpen(await Promise.all(files.map((file) => lookAt(directory, file))));
}

async function* whileOpen(looks: readonly (WalkedEntry | null)[]): AsyncGenerator<WalkedEntry> {
  try {
    for (const look of looks) if (look !== null) yield look;
  } finally {
    await Promise.all(looks.map(async (look) => look?.kind === 'file' && (await look.file.close())));
  }
}

async function lookAt(directory: Directory, found: Found): Promise<WalkedEntry | null> {
  const { path, name, isUtf8 } = named(directory, found);
  return isUtf8 ? await openedFile(path, `${directory.anchor}/${name}`) : NOT_UTF8(path);
}

/** Null for what has become no file meanwhile, and is left out in silence. */
async function openedFile(path: string, location: string): Promise<WalkedEntry | null> {
  let file: FileHandle | null = null;
  try {
    file = await open(location, OPEN_FILE);
    const stat = await file.stat();
    if (stat.isFile()) {
      const { mode, mtime, size, blocks } = stat;
      return { kind: 'file', path, mode, mtime, size, blocksBytes: blocks * BLOCK_BYTES, file };
    }
    await file.close();
    return null;
  } catch (error) {
    await file?.close().catch(() => null);
    return { kind: 'unreadable', path, reason: codeOf(error) };
  }
}

const NOT_UTF8 = (path: string): WalkedEntry => ({
  kind: 'unreadable',
  path,
  reason: 'the name is not UTF-8',
});

interface Found {
  readonly bytes: Buffer;
  readonly isFile: boolean;
}

function named(
  directory: Directory,
  { bytes }: Found,
): { readonly name: string; readonly path: string; readonly isUtf8: boolean } {
  const name = bytes.toString('utf8');
  const path = directory.path === '' ? name : `${directory.path}/${name}`;
  return { name, path, isUtf8: Buffer.from(name).equals(bytes) };
}

function filesFrom(found: readonly Found[], from: number): readonly Found[] {
  const some = found.slice(from, from + FILES_AT_ONCE);
  const end = some.findIndex(({ isFile }) => !isFile);
  return end === -1 ? some : some.slice(0, end);
}

async function* walkEntry(entry: Directory, location: string): AsyncGenerator<WalkedEntry> {
  const { path, depth } = entry;
  const stat = await lstat(location);
  if (stat.isSymbolicLink()) {
    yield { kind: 'link', path, mtime: stat.mtime, target: await readlink(location) };
  } else if (stat.isDirectory()) {
    if (depth + 1 >= DEPTH_MAX) yield { kind: 'unreadable', path, reason: `deeper than ${DEPTH_MAX}` };
    else yield* walkDirectory(entry, location);
  } else if (stat.isFile()) {
    // Of a file system that does not say in its listing what is a file.
    yield* whileOpen([await openedFile(path, location)]);
  }
}

async function* walkDirectory({ path, depth }: Directory, location: string): AsyncGenerator<WalkedEntry> {
  const handle = await open(location, OPEN_DIRECTORY);
  try {
    const { mode, mtime } = await handle.stat();
    yield { kind: 'directory', path, mode, mtime };
    yield* walkEntries({ anchor: anchorOf(handle, location), path, depth: depth + 1 });
  } finally {
    await handle.close();
  }
}

async function sortedEntries(anchor: string): Promise<readonly Found[]> {
  const entries = await readdir(anchor, { encoding: 'buffer', withFileTypes: true });
  return entries
    .map((entry) => ({ bytes: entry.name, isFile: entry.isFile() }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
}

function anchorOf(handle: FileHandle, location: string): string {
  return HAS_FD_PATHS ? `/proc/self/fd/${handle.fd}` : location;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
}
