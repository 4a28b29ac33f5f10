/**
 * Whose runs a caller sees: a user's key its own, an administrator's all of them (D4, D5).
 * Owns that one rule; a foreign run looks exactly like a missing one.
 */
import { z } from 'zod';
import { planOf } from '../../activities/plan-item.ts';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import type { World } from '../../activities/world.ts';
import { isCurrent } from '../../core/current-trouble.ts';
import { runId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { TroubleOf } from '../../core/trouble.ts';
import { type Application, type Principal, whoseRecords } from '../application/application.ts';

export function isTheirs(caller: Principal, { userId = LOCAL_USER }: Pick<RunRow, 'userId'>): boolean {
  const whose = whoseRecords(caller);
  return whose === null || whose === userId;
}

/** @throws ParleyError not_found: also for another user's */
export async function findRun({ world }: Application, caller: Principal, id: string): Promise<RunRow> {
  const row = await world.records.run(runId(id));
  if (row !== null && isTheirs(caller, row)) return row;
  throw new ParleyError('not_found', 'Run not found');
}

/** The path of a run: 1 to 64 lowercase letters, digits and hyphens. */
export const runParams = z.object({
  run_id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'Input should be the id of a run'),
});

/** What every route has whose address names a run that the caller sees. */
export const OF_RUN = { access: 'key', params: runParams, errors: ['not_found'] } as const;

/** What is tried again at this moment, for the records of runs and items. */
export async function currentTroubles({ troubles, world }: Application): Promise<readonly TroubleOf[]> {
  const now = world.clock.now();
  return (await troubles.open()).filter((trouble) => isCurrent(trouble, now));
}

const byPlan = new WeakMap<Plan, ReadonlyMap<string, PlanItem>>();
const NONE: ReadonlyMap<string, PlanItem> = new Map();

/** The items of a run's plan by key, as it was amended last. */
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
