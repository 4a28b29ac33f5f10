/**
 * Reading a tree that something hostile may change at the same moment.
 * Owns a walk in which no symbolic link is ever followed: on Linux every step starts from an open directory, so that
 * swapping a directory for a link leads nowhere; elsewhere only the last step is safe. Must not interpret content.
 */
import { constants, existsSync } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Directories open at once; deeper trees are noted, not entered. */
const DEPTH_MAX = 128;
const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Not blocking, because a file may have become a pipe since it was looked at. */
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
      /** Open while the walk stands here, closed when it goes on. */
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
  for (const bytes of await sortedNames(directory.anchor)) {
    const name = bytes.toString('utf8');
    const path = directory.path === '' ? name : `${directory.path}/${name}`;
    if (!Buffer.from(name).equals(bytes)) {
      yield { kind: 'unreadable', path, reason: 'the name is not UTF-8' };
      continue;
    }
    try {
      yield* walkEntry({ ...directory, path }, `${directory.anchor}/${name}`);
    } catch (error) {
      yield { kind: 'unreadable', path, reason: codeOf(error) };
    }
  }
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
    yield* walkFile(path, location);
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

async function* walkFile(path: string, location: string): AsyncGenerator<WalkedEntry> {
  const file = await open(location, OPEN_FILE);
  try {
    const stat = await file.stat();
    if (stat.isFile()) {
      const { mode, mtime, size, blocks } = stat;
      yield { kind: 'file', path, mode, mtime, size, blocksBytes: blocks * BLOCK_BYTES, file };
    }
  } finally {
    await file.close();
  }
}

async function sortedNames(anchor: string): Promise<readonly Buffer[]> {
  const names = await readdir(anchor, { encoding: 'buffer' });
  return names.sort((a, b) => Buffer.compare(a, b));
}

function anchorOf(handle: FileHandle, location: string): string {
  return HAS_FD_PATHS ? `/proc/self/fd/${handle.fd}` : location;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
}
