/**
 * The overrides of a scenario on a job: maps key by key, everything else as a whole, the override wins.
 * Owns the merge; shapes are checked before it.
 */
import type { JobDocument } from '../schema/job-schema.ts';
import type { OverridesDocument } from './overrides-schema.ts';

/** `budget.usd` is there: the check of overrides has seen to it. */
export function amendJob(job: JobDocument, overrides: OverridesDocument): JobDocument {
  const { defaults, conversations, budget, retry, wait, cleanup, placement, admission } = overrides;
  const usd = budget?.usd ?? job.budget?.usd;
  return {
    ...job,
    ...(defaults === undefined ? {} : { defaults: withFields(job.defaults ?? {}, defaults) }),
    conversations: job.conversations.map((own) => withFields(own, conversations?.[own.id] ?? {})),
    ...(placement === undefined ? {} : { placement }),
    ...(admission === undefined ? {} : { admission: { ...job.admission, ...admission } }),
    ...(budget === undefined || usd === undefined ? {} : { budget: { ...job.budget, ...budget, usd } }),
    ...(retry === undefined ? {} : { retry }),
    ...(wait === undefined ? {} : { wait: { ...job.wait, ...wait } }),
    ...(cleanup === undefined ? {} : { cleanup: { ...job.cleanup, ...cleanup } }),
  };
}

type Fields = NonNullable<OverridesDocument['defaults']>;

function withFields<Own extends Fields>(own: Own, { limits, priority }: Fields): Own {
  return {
    ...own,
    ...(limits === undefined ? {} : { limits: { ...own.limits, ...limits } }),
    ...(priority === undefined ? {} : { priority }),
  };
}
