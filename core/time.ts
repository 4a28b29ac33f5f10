/**
 * Units of time as numbers of milliseconds.
 * Owns nothing but names; must not read a clock.
 */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The earlier of two instants where null means "never". */
export function earliest(...instants: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const at of instants) if (at !== null && (first === null || at < first)) first = at;
  return first;
}
