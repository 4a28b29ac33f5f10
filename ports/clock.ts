/**
 * Time as a port, so that a test or the simulator can move it.
 * Owns the interface only; the real one lives in the outermost shell.
 */

/** A timer that was armed; cancelling twice is harmless. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `fire` once, at or after `at` (epoch milliseconds); at once when `at` has passed, but never before returning. */
  setTimer(at: number, fire: () => void): Timer;
}
