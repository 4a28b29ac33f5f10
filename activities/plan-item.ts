/**
 * Finding the item of a plan that a command is about.
 * Owns the lookup; plans are immutable, and an amended one is one more, so what is found never changes under a run.
 */
import type { RunId } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Plan, PlanItem } from '../core/plan/plan.ts';
import { amendedPlanId } from '../core/run/amend/amended-plan-id.ts';
import { Recent } from './recent.ts';
import type { World } from './world.ts';

/** Parsing a plan anew for each of its thousand items would be the most of the work. */
const recentPlans = new Recent<World['plans'], RunId, Plan>(8);

/**
 * The plan of that hash; without one, the plan it was begun with.
 * @throws ParleyError plan_invalid
 */
export async function planOf(world: Pick<World, 'plans'>, runId: RunId, planHash?: string): Promise<Plan> {
  const first = await recentPlan(world, runId);
  if (planHash === undefined || first.hash === planHash) return first;
  return await recentPlan(world, amendedPlanId(runId, planHash));
}

/** As it was amended last. @throws ParleyError plan_invalid, not_found */
export async function presentPlanOf(world: World, runId: RunId): Promise<Plan> {
  const run = await world.records.run(runId);
  if (run === null)
    throw new ParleyError('not_found', `Cannot find the plan of run "${runId}": there is no such run`);
  return await planOf(world, runId, run.planHash);
}

function recentPlan(world: Pick<World, 'plans'>, planId: RunId): Promise<Plan> {
  return recentPlans.get(world.plans, planId, () => readPlan(world, planId));
}

async function readPlan(world: Pick<World, 'plans'>, runId: RunId): Promise<Plan> {
  const plan = await world.plans.plan(runId);
  if (plan === null) throw new ParleyError('plan_invalid', `Cannot find the plan of run "${runId}"`);
  return plan;
}

/** @throws ParleyError plan_invalid */
export async function planItem(
  world: World,
  command: { readonly runId: RunId; readonly index: number; readonly key: string; readonly plan?: string },
): Promise<{ readonly plan: Plan; readonly item: PlanItem }> {
  const plan = await planOf(world, command.runId, command.plan);
  const item = plan.items[command.index];
  if (item?.key !== command.key)
    throw new ParleyError(
      'plan_invalid',
      `Cannot find item "${command.key}" in the plan of run "${command.runId}"`,
    );
  return { plan, item };
}
