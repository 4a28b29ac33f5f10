/**
 * How often a command is tried again, and after which wait: the same for every driver and for the simulator.
 * Owns the rule; which command is met with which policy is in resource.ts.
 */
import type { ErrorCode } from '../error-catalogue.ts';

/** How a retryable error is met; a definite one is answered at once. */
export interface RetryPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Tries in all; null for until the machine cancels the command (its own deadline bounds it). */
  readonly attemptsMax: number | null;
}

/** Asks again for as long as the machine wants it. */
export const PATIENT: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: null };
/** The machine itself counts tries. */
export const ONCE: RetryPolicy = { initialMs: 0, maxMs: 0, attemptsMax: 1 };
/** A handful of tries over about a minute. */
export const BRIEF: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: 8 };

/** The part of an error that decides about a further try. */
interface Obstacle {
  readonly code: ErrorCode;
  /** False: it is definite. */
  readonly retry: boolean;
}

/** Doublings beyond this change nothing: every policy has met its longest wait. */
const DOUBLINGS_MAX = 20;

/**
 * Milliseconds until the next try after an error; null when it is definite, or the tries are used up. A sandbox on its way
 * up is waited for as long as the machine wants it, since its way may lead through the line for a slot (D29); it ends in
 * a sandbox that is up, or in a resume that failed.
 */
export function waitAfter({ code, retry }: Obstacle, policy: RetryPolicy, tried: number): number | null {
  if (!retry) return null;
  return waitBeforeRetry(code === 'sandbox_starting' ? PATIENT : policy, tried);
}

/** Milliseconds until the next try; null when the tries are used up. `tried` counts tries before the one that failed. */
export function waitBeforeRetry(
  { initialMs, maxMs, attemptsMax }: RetryPolicy,
  tried: number,
): number | null {
  if (attemptsMax !== null && tried + 1 >= attemptsMax) return null;
  return Math.min(maxMs, initialMs * 2 ** Math.min(tried, DOUBLINGS_MAX));
}
