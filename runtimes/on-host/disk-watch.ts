/**
 * Sandboxes that keep more on disk than they may.
 * Owns looking now and then; a runtime says how one is ended, and why stays behind for the last words.
 * Must not remove a file: what is there belongs to the user.
 */
import { bytesOnDisk } from './bytes-on-disk.ts';

export interface DiskWatch<T> {
  readonly bytesMax: number;
  readonly everyMs: number;
  /** Sandboxes that are up at this moment. */
  readonly upNow: () => Promise<readonly T[]>;
  /** What counts of one. */
  readonly treesOf: (sandbox: T) => readonly string[];
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
        if ((await bytesOnDisk(watch.treesOf(one))) > watch.bytesMax) await watch.end(one);
      }
    } catch {
      // What could not be looked at now is looked at next time.
    } finally {
      isLooking = false;
    }
  };
  setInterval(() => void look(), watch.everyMs).unref();
}
