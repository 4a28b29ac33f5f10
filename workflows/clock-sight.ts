/**
 * How far a workflow's clock is ahead of a machine's steady clock, which cannot be set, as a worker read both.
 * Owns the shape; the readings are the workers'.
 */
export interface ClockSight {
  /** Name of the machine's clock: readings of two machines cannot be compared. */
  readonly of: string;
  readonly offsetMs: number;
}
