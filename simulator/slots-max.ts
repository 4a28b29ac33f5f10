/**
 * How many capacity slots a play can hold at once.
 * Owns the one sentence behind it: everything in a play belongs to one user, so the smaller of the two bounds counts (D17).
 */
import type { Policy } from './models/model-options.ts';

/** The smaller of both bounds. */
export function slotsMaxOf({ installationMax, userMax }: Policy['capacity']): number {
  return Math.min(installationMax, userMax);
}
