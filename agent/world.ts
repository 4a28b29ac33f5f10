/**
 * What the server takes from outside: the time and fresh ids.
 * Owns the interface and the real one; nothing else in this program reads a clock or draws randomness.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as timer } from 'node:timers/promises';

export interface World {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** A fresh hyphenated UUID. */
  uuid(): string;
  /** Resolves after `ms`; rejects with an AbortError when the signal fires first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemWorld: World = {
  nowMs: () => Date.now(),
  uuid: () => randomUUID(),
  sleep: async (ms, signal) => {
    await timer(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** Waits for `work` at most `ms`; true when it ended in time. Never rejects. */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const give = new AbortController();
  const late = timer(ms, false, { signal: give.signal }).catch(() => false);
  const done = work.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([done, late]);
  give.abort();
  return inTime;
}
