/**
 * Two answers to nearly the same question: which conversations end otherwise, or meet other limits.
 * Owns the comparison by key; must not print.
 */
import type { LimitMet } from '../plan-timeline.ts';
import type { PlanAnswer, SimulatedConversation } from '../simulate-plan.ts';

/** How a conversation ended. */
export type Fate = Pick<SimulatedConversation, 'outcome' | 'met'>;

/** Null on one side: the conversation is not in that answer. */
export interface ChangedFate {
  readonly key: string;
  readonly before: Fate | null;
  readonly after: Fate | null;
  /** Limits met on one side alone. */
  readonly gained: readonly LimitMet[];
  readonly lost: readonly LimitMet[];
}

/** In the order of the first answer; what only the second has comes last. */
export function changedFates(before: PlanAnswer, after: PlanAnswer): readonly ChangedFate[] {
  const later = new Map(after.conversations.map((one) => [one.key, one]));
  const earlier = new Set(before.conversations.map(({ key }) => key));
  const pairs = [
    ...before.conversations.map((one) => [one.key, one, later.get(one.key) ?? null] as const),
    ...after.conversations.filter(({ key }) => !earlier.has(key)).map((one) => [one.key, null, one] as const),
  ];
  return pairs.flatMap(([key, was, is]) => {
    const gained = missingFrom(is, was);
    const lost = missingFrom(was, is);
    if (was?.outcome === is?.outcome && gained.length === 0 && lost.length === 0) return [];
    return [{ key, before: fateOf(was), after: fateOf(is), gained, lost }];
  });
}

function missingFrom(of: Fate | null, from: Fate | null): LimitMet[] {
  return (of?.met ?? []).filter((limit) => from?.met.includes(limit) !== true);
}

function fateOf(one: SimulatedConversation | null): Fate | null {
  return one === null ? null : { outcome: one.outcome, met: one.met };
}
