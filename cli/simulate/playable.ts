/**
 * Which conversations of a plan can be played.
 * Owns the choice: how many rows a stage writes nobody knows before it has run, so what is made from them is left out.
 */
import { isAwaiting, knownItems } from '../../core/plan/known-items.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';

export interface Playable {
  readonly plan: Plan;
  /** Each stands for conversations that are not known yet. */
  readonly leftOut: readonly PlanItem[];
}

export function playable(plan: Plan): Playable {
  const known = knownItems(plan);
  if (known === plan.items) return { plan, leftOut: [] };
  return {
    plan: { ...plan, items: known.map((item, index) => ({ ...item, index })) },
    leftOut: plan.items.filter(isAwaiting),
  };
}
