/**
 * The items of a run's plan by key, as it was amended last.
 * Owns that a run whose plan is gone has none, and that a plan is taken apart once.
 */
import { planOf } from '../../activities/plan-item.ts';
import type { World } from '../../activities/world.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { RunRow } from '../../core/machine/projection.ts';

const byPlan = new WeakMap<Plan, ReadonlyMap<string, PlanItem>>();
const NONE: ReadonlyMap<string, PlanItem> = new Map();

export async function itemsOfPlan(
  world: World,
  { runId, planHash }: Pick<RunRow, 'runId' | 'planHash'>,
): Promise<ReadonlyMap<string, PlanItem>> {
  try {
    const plan = await planOf(world, runId, planHash);
    const known = byPlan.get(plan) ?? new Map(plan.items.map((item) => [item.key, item]));
    byPlan.set(plan, known);
    return known;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'plan_invalid') return NONE;
    throw error;
  }
}
