/**
 * What many values say in three: the middle, what 95 of 100 stay within, and the worst.
 * Owns the percentile; must not know what is counted.
 */

/** Of several values. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/**
 * By nearest rank: the smallest value that at least `share` of all values do not exceed.
 * It is always one of the values, so that a table never shows what no play had.
 * `values` in any order, at least one; `share` above 0, up to 1.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return atRank(sorted, share);
}

/** Null when there are no values. Infinity is a value: it stands for what did not end. */
export function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return { p50: atRank(sorted, 0.5), p95: atRank(sorted, 0.95), max: atRank(sorted, 1) };
}

function atRank(sorted: readonly number[], share: number): number {
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length)));
  const value = sorted[rank - 1];
  if (value === undefined) throw new Error('Cannot take a percentile: there are no values');
  return value;
}
