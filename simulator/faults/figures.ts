/**
 * The figures of faults: how long a worker is down, how far a clock is off, how late something is.
 * Owns the ranges with their reasons; which fault strikes when is decided by the injector.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { RandomStream } from '../random.ts';

export interface Range {
  readonly minMs: number;
  readonly maxMs: number;
}

/** From a supervisor that starts a process at once to an operator who has to step in. */
export const DOWN: Range = { minMs: SECOND_MS, maxMs: 10 * MINUTE_MS };
/** A planned change of workers. */
export const UPGRADE: Range = { minMs: SECOND_MS, maxMs: 30 * SECOND_MS };
/** A store that restarts, or whose disk an operator has to empty. */
export const AWAY: Range = { minMs: 2 * SECOND_MS, maxMs: 10 * MINUTE_MS };
/** A commit that lost is made again after the driver's pause. */
export const CONFLICT: Range = { minMs: 1, maxMs: SECOND_MS };
export const SLOW: Range = { minMs: 500, maxMs: MINUTE_MS };
/** A caller that saw a timeout retries. */
export const ASKED_AGAIN: Range = { minMs: SECOND_MS, maxMs: 5 * MINUTE_MS };
/** Longer than any lease, shorter than a session. */
export const FROZEN: Range = { minMs: MINUTE_MS, maxMs: 6 * HOUR_MS };
/** A command of a worker that sends nothing for so long is begun by another. */
export const LEASE_MS = 30 * SECOND_MS;
/** Two leaders begin nearly at once. */
export const SECOND_LEADER: Range = { minMs: 1, maxMs: 5 * SECOND_MS };
/** More is an operator's fault that nothing survives: leases of days would be needed. */
export const CLOCK_OFF_MAX_MS = 2 * MINUTE_MS;
export const CLOCK_OFF: Range = { minMs: SECOND_MS, maxMs: CLOCK_OFF_MAX_MS };
export const CLOCK_OFF_FOR: Range = { minMs: 10 * MINUTE_MS, maxMs: 6 * HOUR_MS };
/** A queue between machines that is behind; longer would be an outage. */
export const TELL_DELAY: Range = { minMs: 1, maxMs: 2 * MINUTE_MS };
export const ANSWER_LATE: Range = { minMs: SECOND_MS, maxMs: 15 * MINUTE_MS };
/** Between milliseconds and minutes after a step: before, in and after what it began. */
export const CLIENT_ACTS_AFTER: Range = { minMs: 1, maxMs: 10 * MINUTE_MS };

/** Whole milliseconds of a range, every order of magnitude as likely as any other. */
export function figureIn({ minMs, maxMs }: Range, stream: RandomStream): number {
  return Math.round(minMs * (maxMs / minMs) ** stream.next());
}

/** A whole number from `min` to `max`, both included. */
export function wholeIn(min: number, max: number, stream: RandomStream): number {
  return min + Math.floor(stream.next() * (max - min + 1));
}
