/**
 * What is counted about the warm pool.
 * Owns the interface; where there is no page of metrics, it does nothing.
 */

/** Sandboxes of the pool by what they do, and how many are wanted. */
export interface WarmHeld {
  readonly wanted: number;
  readonly booting: number;
  readonly ready: number;
  readonly leaving: number;
}

/** Counts; must not throw. */
export interface WarmMeter {
  held(held: WarmHeld): void;
  /** `lost`: another claim was faster. */
  claim(outcome: 'claimed' | 'lost'): void;
  gaveUp(): void;
}
