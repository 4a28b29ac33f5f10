/**
 * Work on a PostgreSQL server, repeated when the server gave it up for another one or the connection was lost.
 * Owns how often and after which pauses; whoever hands work in says that nothing of it was applied when it fails.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ParleyError } from '../core/parley-error.ts';
import { isConflict, isLost } from './postgres-failure.ts';

/**
 * Pauses between the tries: seven seconds in all, which a server takes to restart. Whoever calls waits meanwhile, so it
 * is no longer than a client does.
 */
const PAUSES_MS = [10, 30, 100, 250, 500, 1_000, 2_000, 3_000];

/** Ends with the last failure. */
export async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!helps(error)) throw error;
    }
    await pause(pauseMs);
  }
  return await work();
}

function helps(error: unknown): boolean {
  const first = error instanceof ParleyError ? error.cause : error;
  return isConflict(first) || isLost(first);
}
