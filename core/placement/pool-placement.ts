/**
 * What placement hears of the pool that a plan has.
 * Owns the translation, for the product and for its simulation alike; must not choose a sandbox.
 */
import type { RunId } from '../ids.ts';
import type { PoolPlacement } from './place-in-pool.ts';
import type { Plan, PlanItem } from '../plan/plan.ts';
import type { GroupingStrategy } from '../status.ts';

/** Among the sandboxes of a pool, when the job names no strategy: the user's own setting is about other work. */
export const POOL_STRATEGY_DEFAULT: GroupingStrategy = 'FEWEST_CONVERSATIONS';

/** Null when the job has no pool. */
export function poolPlacement(
  { placement }: Pick<Plan, 'placement'>,
  { key, affinity }: Pick<PlanItem, 'key' | 'affinity'>,
  poolId: RunId,
): PoolPlacement | null {
  const { pool } = placement;
  if (pool === undefined) return null;
  const { size, maxPerSandbox, recycleAfter, recycleAgeMs, onFull } = pool;
  return {
    poolId,
    key,
    affinity: affinity ?? null,
    size,
    maxPerSandbox,
    recycleAfter,
    recycleAgeMs,
    onFull,
  };
}
