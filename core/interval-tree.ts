/**
 * Stretches of time and who has them, searched in logarithmic time; members can be dropped and restored.
 * Owns the search; must not know what a member is.
 *
 * Many small lists stand behind each other in the same arrays, and each is searched for itself.
 */

/** Places from `low` to `high`, both included. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Members in the order in which their stretches begin, within each range; both ends included. */
export interface Stretches {
  readonly members: Uint32Array;
  readonly froms: Float64Array;
  readonly tos: Float64Array;
}

/** Each sorted list read as a balanced tree whose root is the middle; `lastEnds` is the latest end of each subtree. */
export class IntervalTree {
  private readonly stretches: Stretches;
  /** As given, but for those that were dropped. */
  private readonly tos: Float64Array;
  private readonly lastEnds: Float64Array;
  private readonly ranges: readonly Range[];

  /** Ranges do not overlap. */
  constructor(stretches: Stretches, ranges: readonly Range[]) {
    this.stretches = stretches;
    this.ranges = ranges;
    this.tos = Float64Array.from(stretches.tos);
    this.lastEnds = new Float64Array(stretches.tos.length);
    for (const { low, high } of ranges) this.fill(low, high);
  }

  /** Another tree of the same members, none of them dropped. */
  whole(): IntervalTree {
    return new IntervalTree(this.stretches, this.ranges);
  }

  memberAt(place: number): number {
    return this.stretches.members[place] ?? 0;
  }

  /** The first place of the range whose stretch holds the instant; −1 when there is none. */
  find(at: number, range: Range): number {
    for (const place of this.holding(at, range)) return place;
    return -1;
  }

  /** Every place of the range whose stretch holds the instant, in order. */
  holding(at: number, { low, high }: Range): Iterable<number> {
    return this.search(at, low, high);
  }

  /** The range is that of the place. */
  drop(place: number, { low, high }: Range): void {
    this.tos[place] = -Infinity;
    this.repair(place, low, high);
  }

  restore(place: number, { low, high }: Range): void {
    this.tos[place] = this.stretches.tos[place] ?? -Infinity;
    this.repair(place, low, high);
  }

  /** As deep as the tree is high: a few dozen calls for millions of members. */
  private *search(at: number, low: number, high: number): Generator<number> {
    if (low > high) return;
    const middle = (low + high) >> 1;
    if ((this.lastEnds[middle] ?? -Infinity) < at) return;
    yield* this.search(at, low, middle - 1);
    if ((this.stretches.froms[middle] ?? Infinity) > at) return;
    if ((this.tos[middle] ?? -Infinity) >= at) yield middle;
    yield* this.search(at, middle + 1, high);
  }

  private fill(low: number, high: number): number {
    if (low > high) return -Infinity;
    const middle = (low + high) >> 1;
    const own = this.tos[middle] ?? -Infinity;
    const last = Math.max(own, this.fill(low, middle - 1), this.fill(middle + 1, high));
    this.lastEnds[middle] = last;
    return last;
  }

  private repair(place: number, low: number, high: number): void {
    const middle = (low + high) >> 1;
    if (place < middle) this.repair(place, low, middle - 1);
    else if (place > middle) this.repair(place, middle + 1, high);
    this.lastEnds[middle] = Math.max(
      this.tos[middle] ?? -Infinity,
      this.lastEndOf(low, middle - 1),
      this.lastEndOf(middle + 1, high),
    );
  }

  private lastEndOf(low: number, high: number): number {
    return low > high ? -Infinity : (this.lastEnds[(low + high) >> 1] ?? -Infinity);
  }
}
