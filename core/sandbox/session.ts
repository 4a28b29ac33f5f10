/**
 * The session window: how long one incarnation of a sandbox may run.
 * Owns the only readings of the 12-hour constant; must not decide what happens at the end of it (D10).
 */
import { MAX_SESSION_MS } from '../limits.ts';

/** Epoch milliseconds at which a session that began at `startedAt` is over. */
export function sessionEndOf(startedAt: number): number {
  return startedAt + MAX_SESSION_MS;
}

/** True when something that long does not fit into one session. */
export function outlastsSession(durationMs: number): boolean {
  return durationMs >= MAX_SESSION_MS;
}
