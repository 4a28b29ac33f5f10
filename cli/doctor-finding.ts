/**
 * One line of `parley doctor`.
 * Owns its shape; must not hold code.
 */

export interface Finding {
  readonly check: string;
  /** `warning` does not keep a run from working. */
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; null when all is well. */
  readonly remedy: string | null;
}
