/** Middles of figures: mean, median and percentile. Must not print. */

export function mean(figures: readonly number[]): number {
  return figures.reduce((sum, one) => sum + one, 0) / figures.length;
}

/** `share` from 0 to 1: the smallest figure that so many are not above. */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const median = (figures: readonly number[]): number => percentile(figures, 0.5);

/** Of readings with the same figures: the median of each figure for itself. */
export function medians<Figure extends string>(
  readings: readonly Readonly<Record<Figure, number>>[],
): Readonly<Record<Figure, number>> {
  const figures = Object.keys(readings[0] ?? {}) as Figure[];
  const middle = figures.map((name) => [name, median(readings.map((reading) => reading[name]))]);
  return Object.fromEntries(middle) as Record<Figure, number>;
}
