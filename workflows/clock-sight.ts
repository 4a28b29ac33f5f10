/**
 * How far a workflow's clock is ahead of the one of a machine that nobody sets, as a worker saw it.
 * Owns the shape; the looks are the workers'.
 */
export interface ClockSight {
  /** Name of the machine's clock: sights of two machines say nothing about each other. */
  readonly of: string;
  readonly offsetMs: number;
}
