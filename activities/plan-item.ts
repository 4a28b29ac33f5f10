/**
 * Finding the item of a plan that a command is about.
 * Owns the lookup; plans are immutable, so what is found never changes under a run.
 */
import type { RunId } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Plan, PlanItem } from '../core/plan.ts';
import { Recent } from './recent.ts';
import type { World } from './world.ts';

/** Parsing a plan anew for each of its thousand items would be the most of the work. */
const recentPlans = new Recent<World['plans'], RunId, Plan>(8);

/** @throws ParleyError plan_invalid */
export function planOf(world: World, runId: RunId): Promise<Plan> {
  return recentPlans.get(world.plans, runId, () => readPlan(world, runId));
}

async function readPlan(world: World, runId: RunId): Promise<Plan> {
  const plan = await world.plans.plan(runId);
  if (plan === null) throw new ParleyError('plan_invalid', `Cannot find the plan of run "${runId}"`);
  return plan;
}

/** @throws ParleyError plan_invalid */
export async function planItem(
  world: World,
  command: { readonly runId: RunId; readonly index: number; readonly key: string },
): Promise<{ readonly plan: Plan; readonly item: PlanItem }> {
  const plan = await planOf(world, command.runId);
  const item = plan.items[command.index];
  if (item?.key !== command.key)
    throw new ParleyError(
      'plan_invalid',
      `Cannot find item "${command.key}" in the plan of run "${command.runId}"`,
    );
  return { plan, item };
}
