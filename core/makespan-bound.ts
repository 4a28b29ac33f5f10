/**
 * What a batch could take at the least: the bound of list scheduling, from the times that its items really took.
 * Owns the one formula for plays and runs; must not know where times come from.
 */

/** Epoch milliseconds, from the beginning of the work to its end. */
export interface WorkInterval {
  readonly from: number;
  readonly to: number;
}

/** Most intervals that hold at one instant; one that ends makes room for one that begins with it. */
export function mostAtOnce(intervals: readonly WorkInterval[]): number {
  const changes = intervals
    .filter(({ from, to }) => to > from)
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  let most = 0;
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** The longest item, or all of them spread evenly over the most that were at work at once: whichever is more. */
export function makespanBoundMs(intervals: readonly WorkInterval[]): number {
  let longest = 0;
  let total = 0;
  for (const { from, to } of intervals) {
    longest = Math.max(longest, to - from);
    total += to - from;
  }
  return Math.max(longest, Math.ceil(total / Math.max(1, mostAtOnce(intervals))));
}
