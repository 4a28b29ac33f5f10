/**
 * What conversations of a plan wait for where their rows are another conversation's result.
 * Owns the shape.
 */

/** Rows that conversations of a run leave among their results, and that others of it are made from. */
export interface PlanAwaited {
  /** Id of the conversation entry that writes them. */
  readonly entry: string;
  /** JSON lines, relative to the working directory. */
  readonly file: string;
}
