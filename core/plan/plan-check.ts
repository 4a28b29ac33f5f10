/**
 * What a plan holds about whether the work is good: the check, and numbers about it (D28).
 * Owns the two shapes.
 */

/** A command run in the sandbox before collection; its exit code decides success (D28). */
export interface PlanVerify {
  readonly command: string;
  readonly timeoutMs: number;
}

/** A number that a command prints about the work, and its bounds. */
export interface PlanScore {
  /** Unique in its conversation. */
  readonly name: string;
  /** Its last line is the number. */
  readonly command: string;
  readonly timeoutMs: number;
  /** Outside of these the work is not good, as where a check fails; absent for no bound. */
  readonly atLeast?: number;
  readonly atMost?: number;
}
