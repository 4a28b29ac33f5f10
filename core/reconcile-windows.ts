/**
 * Which conversations could have made a call: windows of time by model, searched in logarithmic time.
 * Owns a static interval index; must not decide what becomes of a row.
 */
import type { ReconcileConversation } from './reconcile-result.ts';

interface Interval {
  readonly from: number;
  readonly to: number;
  /** Position of the conversation in what was given. */
  readonly owner: number;
}

/** Intervals sorted by start, read as a balanced tree whose root is the middle; `lastEnd` is the latest of a subtree. */
interface IntervalTree {
  readonly intervals: readonly Interval[];
  readonly lastEnd: Float64Array;
}

export interface Tolerance {
  readonly windowBeforeMs: number;
  readonly windowAfterMs: number;
}

export class WindowIndex {
  private readonly trees = new Map<string, IntervalTree>();

  constructor(conversations: readonly ReconcileConversation[], { windowBeforeMs, windowAfterMs }: Tolerance) {
    const byModel = new Map<string, Interval[]>();
    for (const [owner, { modelNames, windows }] of conversations.entries()) {
      const intervals = windows.map(({ startedAt, endedAt }) => ({
        from: startedAt - windowBeforeMs,
        to: endedAt === null ? Infinity : endedAt + windowAfterMs,
        owner,
      }));
      for (const model of new Set(modelNames)) {
        const known = byModel.get(model);
        if (known === undefined) byModel.set(model, [...intervals]);
        else known.push(...intervals);
      }
    }
    for (const [model, intervals] of byModel) this.trees.set(model, grow(intervals));
  }

  /** Owners of windows of this model that hold the instant, both ends included; stops once it has `ownersMax`. */
  ownersAt(model: string, at: number, ownersMax: number): readonly number[] {
    const tree = this.trees.get(model);
    if (tree === undefined) return [];
    const owners = new Set<number>();
    search(tree, { at, low: 0, high: tree.intervals.length - 1, owners, ownersMax });
    return [...owners].sort((a, b) => a - b);
  }
}

function grow(intervals: readonly Interval[]): IntervalTree {
  const sorted = [...intervals].sort((a, b) => a.from - b.from || a.owner - b.owner);
  const lastEnd = new Float64Array(sorted.length);
  const fill = (low: number, high: number): number => {
    if (low > high) return -Infinity;
    const middle = (low + high) >> 1;
    const own = sorted[middle]?.to ?? -Infinity;
    const last = Math.max(own, fill(low, middle - 1), fill(middle + 1, high));
    lastEnd[middle] = last;
    return last;
  };
  fill(0, sorted.length - 1);
  return { intervals: sorted, lastEnd };
}

interface Search {
  readonly at: number;
  readonly low: number;
  readonly high: number;
  readonly owners: Set<number>;
  readonly ownersMax: number;
}

/** As deep as the tree is high: a few dozen calls for millions of windows. */
function search(tree: IntervalTree, { at, low, high, owners, ownersMax }: Search): void {
  if (low > high || owners.size >= ownersMax) return;
  const middle = (low + high) >> 1;
  if ((tree.lastEnd[middle] ?? -Infinity) < at) return;
  search(tree, { at, low, high: middle - 1, owners, ownersMax });
  const interval = tree.intervals[middle];
  if (interval === undefined || interval.from > at || owners.size >= ownersMax) return;
  if (interval.to >= at) owners.add(interval.owner);
  search(tree, { at, low: middle + 1, high, owners, ownersMax });
}
