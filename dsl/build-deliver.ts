/**
 * What a job pushes, as the plan has it.
 * Owns the defaults, and that the patch which is pushed is also collected.
 */
import type { CollectStep, PlanDeliver } from '../core/plan.ts';
import type { JobDocument } from './schema/job-schema.ts';

export function buildDeliver(deliver: NonNullable<JobDocument['deliver']>): PlanDeliver {
  return {
    branch: deliver.branch,
    message: deliver.message ?? '{job}: {key}',
    when: deliver.when ?? 'succeeded',
  };
}

/** A branch is made of the collected patch: it can be pushed after the sandbox is gone, and nothing is pushed unseen. */
export function collectFor(
  deliver: JobDocument['deliver'],
  collect: readonly CollectStep[],
): readonly CollectStep[] {
  if (deliver === undefined || collect.some(({ kind }) => kind === 'diff')) return collect;
  return [...collect, { kind: 'diff' }];
}
