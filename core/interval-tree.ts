/**
 * Stretches of time and who has them, searched in logarithmic time; members can be dropped and restored.
 * Owns the search; must not know what a member is.
 */

/** Members in the order in which their stretches begin, both ends included. */
export interface Stretches {
  readonly members: Uint32Array;
  readonly froms: Float64Array;
  readonly tos: Float64Array;
}

/** The sorted list read as a balanced tree whose root is the middle; `lastEnds` is the latest end of each subtree. */
export class IntervalTree {
  private readonly stretches: Stretches;
  /** As given, but for those that were dropped. */
  private readonly tos: Float64Array;
  private readonly lastEnds: Float64Array;

  constructor(stretches: Stretches) {
    this.stretches = stretches;
    this.tos = Float64Array.from(stretches.tos);
    this.lastEnds = new Float64Array(stretches.tos.length);
    this.fill(0, this.lastEnds.length - 1);
  }

  /** Another tree of the same members, none of them dropped. */
  whole(): IntervalTree {
    return new IntervalTree(this.stretches);
  }

  memberAt(place: number): number {
    return this.stretches.members[place] ?? 0;
  }

  /** The first place whose stretch holds the instant; −1 when there is none. */
  find(at: number): number {
    for (const place of this.holding(at)) return place;
    return -1;
  }

  /** Every place whose stretch holds the instant, in order. */
  holding(at: number): Iterable<number> {
    return this.search(at, 0, this.tos.length - 1);
  }

  drop(place: number): void {
    this.tos[place] = -Infinity;
    this.repair(place, 0, this.tos.length - 1);
  }

  restore(place: number): void {
    this.tos[place] = this.stretches.tos[place] ?? -Infinity;
    this.repair(place, 0, this.tos.length - 1);
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
