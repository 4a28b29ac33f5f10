/**
 * What a run remembers of its breaker while it is open.
 * Owns the shape; when it opens and closes is decided in core/run/admission/breaker.ts.
 */

/** A breaker that closes by itself, while it is open. */
export interface Trip {
  /** Nothing begins before. */
  readonly until: number;
  /** Since when probes begin; null while nothing does. */
  readonly probingSince: number | null;
  /** Probes that went well. */
  readonly passed: number;
}
