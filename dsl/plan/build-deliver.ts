/**
 * What a job pushes, as the plan has it.
 * Owns the defaults, and that the patch which is pushed is also collected.
 */
import type { PlanDeliver, PlanPullRequest } from '../../core/plan/plan-deliver.ts';
import type { CollectStep } from '../../core/plan/plan.ts';
import { TITLE_DEFAULT } from '../../core/plan/pull-request-text.ts';
import type { JobDocument } from '../schema/job-schema.ts';

export function buildDeliver(deliver: NonNullable<JobDocument['deliver']>): PlanDeliver {
  return {
    branch: deliver.branch,
    message: deliver.message ?? '{job}: {key}',
    when: deliver.when ?? 'succeeded',
    ...(deliver.pull_request === undefined ? {} : { pullRequest: buildPullRequest(deliver.pull_request) }),
  };
}

type PullRequestDocument = NonNullable<NonNullable<JobDocument['deliver']>['pull_request']>;

function buildPullRequest({
  title,
  body,
  draft,
  labels,
  reviewers,
  base,
  comment,
  token,
}: PullRequestDocument): PlanPullRequest {
  return {
    title: title ?? TITLE_DEFAULT,
    body: body ?? '',
    isDraft: draft ?? false,
    labels: labels ?? [],
    reviewers: reviewers ?? [],
    base: base ?? null,
    comment: comment ?? null,
    tokenSecret: token?.secret ?? null,
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
