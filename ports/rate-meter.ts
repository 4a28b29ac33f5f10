/**
 * Requests of callers counted over several processes.
 * Owns the interface; what is admitted is decided by who asks.
 */

/** A bucket that fills again with time. */
export interface RateLimit {
  /** Requests at once. */
  readonly burst: number;
  /** Requests a second in the long run. */
  readonly perSecond: number;
}

/** Counts for all. */
export interface RateMeter {
  /**
   * Takes what each caller has used off its bucket, which may fall below nothing, and answers what is left in it. Time is
   * that of the store, so that clocks of processes need not agree.
   * @throws ParleyError store_unavailable
   */
  settle(limit: RateLimit, used: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>;
}
