/**
 * Items that are run several times and judged as one: whether the item as a whole succeeded, and whose failure that forgives.
 * Owns the rule; what each copy came to is said elsewhere.
 */
import type { PlanWhole } from '../../plan/plan.ts';
import type { Outcome } from '../../status.ts';

/** A copy as far as it matters here; an outcome of null means that it has not ended. */
export interface Copy {
  readonly whole?: PlanWhole;
  readonly outcome: Outcome | null;
}

/** What the copies of one item came to. */
export interface WholeItem {
  /** Key of its first copy. */
  readonly key: string;
  readonly rule: PlanWhole['rule'];
  readonly copies: number;
  readonly succeeded: number;
  /** Copies that have ended otherwise than well. */
  readonly unsuccessful: number;
  readonly verdict: 'succeeded' | 'unsuccessful' | 'open';
}

type Counts = Omit<WholeItem, 'verdict'>;

/** In the order of their first copies. Copies that are judged each by itself are no part of it. */
export function wholeItems(copies: Iterable<Copy>): readonly WholeItem[] {
  const counts = new Map<string, Counts>();
  for (const { whole, outcome } of copies) {
    if (whole === undefined) continue;
    const { key, rule } = whole;
    const one = counts.get(key) ?? { key, rule, copies: 0, succeeded: 0, unsuccessful: 0 };
    counts.set(key, {
      ...one,
      copies: one.copies + 1,
      succeeded: one.succeeded + (outcome === 'succeeded' ? 1 : 0),
      unsuccessful: one.unsuccessful + (outcome === null || outcome === 'succeeded' ? 0 : 1),
    });
  }
  return [...counts.values()].map((one) => ({ ...one, verdict: verdictOf(one) }));
}

/** How many failures count for nothing, because their item succeeded as a whole. */
export function countForgiven(copies: Iterable<Copy>): number {
  return wholeItems(copies).reduce(
    (sum, { verdict, unsuccessful }) => sum + (verdict === 'succeeded' ? unsuccessful : 0),
    0,
  );
}

/** Decided as soon as the copies that are left can change nothing. Half of them are no majority. */
function verdictOf({ rule, copies, succeeded, unsuccessful }: Counts): WholeItem['verdict'] {
  const needed = rule === 'any' ? 1 : Math.floor(copies / 2) + 1;
  if (succeeded >= needed) return 'succeeded';
  return copies - unsuccessful < needed ? 'unsuccessful' : 'open';
}
