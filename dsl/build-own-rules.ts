/**
 * When a conversation is tried again, when it has ended, and what is kept of it: for the whole run, and for one entry.
 * Owns the built-in defaults; what an entry writes as the job has it anyway leaves no trace in the plan.
 */
import { canonicalJson } from '../core/canonical-json.ts';
import type { Plan, PlanItem, PlanRetryRule, PlanWait } from '../core/plan/plan.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { collectFor } from './plan/build-deliver.ts';
import { defined } from './defined.ts';
import { durationMs } from './plan/resolve-item.ts';
import type { ConversationDocument } from './schema/conversation-schema.ts';
import type { JobDocument } from './schema/job-schema.ts';

/** Half an hour below the session limit, so that there is time to collect. */
const DEADLINE_DEFAULT_MS = 11 * HOUR_MS + 30 * MINUTE_MS;
const NO_PROGRESS_DEFAULT_MS = 30 * MINUTE_MS;
const BACKOFF_DEFAULT = { initialMs: 30 * SECOND_MS, factor: 2, maxMs: 10 * MINUTE_MS };
/** Failures that usually pass. */
const RETRY_DEFAULT: readonly PlanRetryRule[] = [
  { on: ['infra', 'rate_limited'], attempts: 2, ...BACKOFF_DEFAULT },
];
const UNTIL_DEFAULT: PlanWait['until'] = ['FINISHED', 'ERROR', 'STUCK', 'WAITING_FOR_CONFIRMATION'];
const COLLECT_DEFAULT: Plan['collect'] = [{ kind: 'trajectory' }, { kind: 'diff' }];

type RulesOfRun = Pick<Plan, 'retry' | 'wait' | 'collect'>;
export type OwnRules = Pick<PlanItem, 'retry' | 'wait' | 'collect'>;
type RulesOfJob = Pick<JobDocument, 'retry' | 'wait' | 'collect' | 'deliver'>;

export function rulesOfRun({ retry, wait, collect, deliver }: RulesOfJob): RulesOfRun {
  return {
    retry: retry?.map(buildRetry) ?? RETRY_DEFAULT,
    wait: buildWait(wait ?? {}),
    collect: collectFor(deliver, collect ?? COLLECT_DEFAULT),
  };
}

/** `wait` is merged key by key with that of the job; the others are as a whole in place of the job's. */
export function ownRules({ retry, wait, collect }: ConversationDocument, job: RulesOfJob): OwnRules {
  if (retry === undefined && wait === undefined && collect === undefined) return {};
  const of = rulesOfRun(job);
  return defined({
    retry: unless(of.retry, retry?.map(buildRetry)),
    wait: unless(of.wait, wait && buildWait({ ...job.wait, ...wait })),
    collect: unless(of.collect, collect && collectFor(job.deliver, collect)),
  });
}

function unless<Value>(ofRun: Value, own: Value | undefined): Value | undefined {
  return own === undefined || canonicalJson(own) === canonicalJson(ofRun) ? undefined : own;
}

function buildRetry({ on, attempts, backoff }: NonNullable<JobDocument['retry']>[number]): PlanRetryRule {
  return {
    on,
    attempts,
    initialMs: durationMs(backoff?.initial) ?? BACKOFF_DEFAULT.initialMs,
    factor: backoff?.factor ?? BACKOFF_DEFAULT.factor,
    maxMs: durationMs(backoff?.max) ?? BACKOFF_DEFAULT.maxMs,
  };
}

/** `none` switches a limit off; an absent key leaves the default. */
function buildWait({
  until,
  deadline,
  no_progress: noProgress,
  on_session_limit: onSessionLimit,
}: NonNullable<JobDocument['wait']>): PlanWait {
  return {
    until: until ?? UNTIL_DEFAULT,
    deadlineMs: deadline === undefined ? DEADLINE_DEFAULT_MS : durationMs(deadline),
    noProgressMs: noProgress === undefined ? NO_PROGRESS_DEFAULT_MS : durationMs(noProgress),
    onSessionLimit: onSessionLimit ?? 'resume',
  };
}
