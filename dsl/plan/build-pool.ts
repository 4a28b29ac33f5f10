/**
 * `placement.pool` of a job as a plan has it.
 * Owns its built-in defaults.
 */
import type { PlanPool } from '../../core/placement/place-in-pool.ts';
import { durationMs } from './resolve-item.ts';
import type { JobDocument } from '../schema/job-schema.ts';

/** As without a pool: nobody shares a sandbox unless the job says so. */
const PLACES_DEFAULT = 1;

type PoolDocument = NonNullable<NonNullable<JobDocument['placement']>['pool']>;

export function buildPool({ size, max_per_sandbox, recycle, on_full, warm }: PoolDocument): PlanPool {
  return {
    size,
    maxPerSandbox: max_per_sandbox ?? PLACES_DEFAULT,
    recycleAfter: recycle?.after ?? null,
    recycleAgeMs: durationMs(recycle?.max_age),
    onFull: on_full ?? 'wait',
    warm: warm ?? false,
  };
}
