/**
 * Sandboxes that keep more on disk than they may.
 * Owns looking now and then; a runtime says how one is ended, and why stays behind for the last words.
 * Must not remove a file: what is there belongs to the user.
 */
import { opendir } from 'node:fs/promises';
import { bytesOnDisk } from './bytes-on-disk.ts';
import { SOCKET_DIR_FILES_MAX } from './limits.ts';

export interface DiskWatch<T> {
  readonly bytesMax: number;
  readonly everyMs: number;
  /** Sandboxes that are up at this moment. */
  readonly upNow: () => Promise<readonly T[]>;
  /** What counts of one. */
  readonly treesOf: (sandbox: T) => readonly string[];
  /** Where it makes its socket: on a file system of the host, whose files are counted as well as their bytes. */
  readonly socketDirOf: (sandbox: T) => string;
  readonly end: (sandbox: T) => Promise<void>;
}

/** Goes on until this process ends, and does not keep it from ending. */
export function watchDisks<T>(watch: DiskWatch<T>): void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      for (const one of await watch.upNow()) {
        const socketDir = watch.socketDirOf(one);
        const isOver =
          (await hasMore(socketDir, SOCKET_DIR_FILES_MAX)) ||
          (await bytesOnDisk([...watch.treesOf(one), socketDir])) > watch.bytesMax;
        if (isOver) await watch.end(one);
      }
    } catch {
      // What could not be looked at now is looked at next time.
    } finally {
      isLooking = false;
    }
  };
  setInterval(() => void look(), watch.everyMs).unref();
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
