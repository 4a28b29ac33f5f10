/**
 * Time as a port, so that a test or the simulator can move it.
 * Owns the interface only; the real one lives in the outermost shell.
 */

/** A timer that was armed; cancelling twice is harmless. */
export interface Timer {
  cancel(): void;
}

/** Two readings of time: what people call now, and what measures work. */
export interface Clock {
  /** Epoch milliseconds of the wall clock: people and NTP set it, and it goes on while the machine is suspended. */
  now(): number;
  /**
   * Milliseconds from any origin on a clock that is never set and that stands still while the machine is suspended.
   * Limits of time at work go by it (D36): `now() - steady()` changes by as much as the wall clock was set.
   */
  steady(): number;
  /**
   * Calls `fire` once, at or after `at` (epoch milliseconds); at once when `at` has passed, but never before returning.
   * When the wall clock is set back meanwhile, it fires when so much time has passed as was left: a caller that waits
   * for the instant checks the clock again, and one that waits for a duration is not kept for hours.
   */
  setTimer(at: number, fire: () => void): Timer;
}
