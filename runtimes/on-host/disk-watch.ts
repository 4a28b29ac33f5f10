/**
 * Sandboxes that keep more on disk than they may.
 * Owns checking now and then; a runtime says how one is ended, and why stays behind for the last words.
 * Must not remove a file: what is there belongs to the user.
 */
import { execFile } from 'node:child_process';
import { opendir, statfs, readFile, readdir, readlink, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { DiskBound } from '../../ports/sandbox-runtime.ts';
import {
  DISK_POLL_TIMEOUT_MS,
  FREE_FILES_SHARE_MIN,
  SOCKET_DIR_FILES_MAX,
  STARVING_FILES_SHARE_MIN,
} from './limits.ts';

export interface DiskWatch<T> {
  /** Null: any number. */
  readonly bytesMax: number | null;
  readonly filesMax: number;
  readonly everyMs: number;
  /** Sandboxes that are up at this moment. */
  readonly upNow: () => Promise<readonly T[]>;
  /** What counts of one; the first is where its files without a name are. */
  readonly treesOf: (sandbox: T) => readonly [string, ...string[]];
  /** Where it makes its socket: on a file system of the host, whose files are counted as well as their bytes. */
  readonly socketDirOf: (sandbox: T) => string;
  /** Numbers on the host, as far as they can be found. */
  readonly processesOf: (sandbox: T) => Promise<readonly number[]>;
  readonly end: (sandbox: T, bound: DiskBound) => Promise<void>;
  /** Of the file system that a path is on; absent: the system's answer. */
  readonly filesOf?: (path: string) => Promise<{ readonly files: number; readonly ffree: number }>;
}

interface Reading<T> {
  readonly sandbox: T;
  readonly files: number;
}

/** Goes on until this process ends, and does not keep it from ending. */
export function watchDisks<T>(watch: DiskWatch<T>): void {
  let isLooking = false;
  const poll = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const within: Reading<T>[] = [];
      for (const sandbox of await watch.upNow()) {
        const files = await filesOnDisk(watch.treesOf(sandbox));
        const bound = await overBound(watch, { sandbox, files });
        if (bound === null) within.push({ sandbox, files });
        else await watch.end(sandbox, bound);
      }
      await endStarving(watch, within);
    } catch {
      // What could not be measured now is measured next time.
    } finally {
      isLooking = false;
    }
  };
  setInterval(() => void poll(), watch.everyMs).unref();
}

async function overBound<T>(watch: DiskWatch<T>, { sandbox, files }: Reading<T>): Promise<DiskBound | null> {
  const socketDir = watch.socketDirOf(sandbox);
  const trees = watch.treesOf(sandbox);
  if (await hasMore(socketDir, SOCKET_DIR_FILES_MAX)) return 'socket_folder';
  if (files > watch.filesMax) return 'files';
  if (watch.bytesMax === null) return null;
  const named = await bytesOnDisk([...trees, socketDir]);
  if (named > watch.bytesMax) return 'bytes';
  const unnamed = await unlinkedBytes(await watch.processesOf(sandbox), trees[0]);
  return named + unnamed > watch.bytesMax ? 'bytes' : null;
}

/** A file system has a bounded number of files: where few are left, the sandbox with the most of them is ended. */
async function endStarving<T>(watch: DiskWatch<T>, readings: readonly Reading<T>[]): Promise<void> {
  const [most] = [...readings].sort((a, b) => b.files - a.files);
  if (most === undefined) return;
  const { files, ffree } = await (watch.filesOf ?? statfs)(watch.treesOf(most.sandbox)[0]);
  const isStarved = files > 0 && ffree < files * FREE_FILES_SHARE_MIN;
  if (isStarved && most.files > files * STARVING_FILES_SHARE_MIN)
    await watch.end(most.sandbox, 'file_system');
}

/** Reads no further than it has to: there may be millions. */
async function hasMore(directory: string, filesMax: number): Promise<boolean> {
  let files = 0;
  try {
    for await (const entry of await opendir(directory)) {
      files += entry.name === '' ? 0 : 1;
      if (files > filesMax) return true;
    }
  } catch {
    // It is made anew, or gone with its sandbox.
  }
  return false;
}

const run = promisify(execFile);
const KIBIBYTE = 1024;

/**
 * Blocks that are really taken: a sparse file counts as what was written of it. What could not be read counts as
 * nothing; a removal in the middle is ordinary.
 */
async function bytesOnDisk(trees: readonly string[]): Promise<number> {
  return (await summed(['-skx'], trees)) * KIBIBYTE;
}

/** Files and folders; one of several names counts once. None where the system's tool cannot count them. */
async function filesOnDisk(trees: readonly string[]): Promise<number> {
  return await summed(['-sx', '--inodes'], trees);
}

async function summed(flags: readonly string[], trees: readonly string[]): Promise<number> {
  const options = { timeout: DISK_POLL_TIMEOUT_MS, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const told = await run('du', [...flags, '--', ...trees], options).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const sizes = told.stdout.split('\n').map((line) => Number(/^\d+/.exec(line)?.[0] ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** How the kernel marks a name that is gone. */
const GONE = ' (deleted)';
/** Unit of `stat.blocks`, whatever the file system's own. */
const BLOCK_BYTES = 512;

/** Bytes on the file system that `tree` is on; each file counts once, whichever processes hold it. */
export async function unlinkedBytes(pids: readonly number[], tree: string): Promise<number> {
  const device = (await stat(tree).catch(() => null))?.dev;
  const sizes = new Map<number, number>();
  for (const pid of pids) {
    for (const link of [...(await openLinks(pid)), ...(await mappedLinks(pid))]) {
      const found = await stat(link).catch(() => null);
      if (found?.isFile() === true && found.dev === device) sizes.set(found.ino, found.blocks * BLOCK_BYTES);
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

async function openLinks(pid: number): Promise<readonly string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = names.map((name) => `/proc/${pid}/fd/${name}`);
  const targets = await Promise.all(links.map((link) => readlink(link).catch(() => '')));
  return links.filter((_, index) => targets[index]?.endsWith(GONE));
}

/** A file may be closed once it is mapped. The kernel follows these links for root alone. */
async function mappedLinks(pid: number): Promise<readonly string[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '');
  return maps
    .split('\n')
    .filter((line) => line.endsWith(GONE))
    .map(
      (line) => `/proc/${pid}/map_files/${line.slice(0, line.indexOf(' ')).replace(/(^|-)0+(?=.)/g, '$1')}`,
    );
}
