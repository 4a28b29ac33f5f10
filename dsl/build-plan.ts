/**
 * A checked job and its items as the plan.
 * Owns the built-in defaults of a run and the hash of the plan.
 */
import type {
  Plan,
  PlanItem,
  PlanReconcile,
  PlanReport,
  PlanRetryRule,
  PlanWait,
  SecretReference,
} from '../core/plan.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { buildAdmission, buildBudget } from './build-admission.ts';
import { buildDeliver, collectFor } from './build-deliver.ts';
import { buildFinally } from './build-finally.ts';
import { buildPool } from './build-pool.ts';
import { buildSchedule } from './build-schedule.ts';
import type { InputValue } from './inputs/input-value.ts';
import { hashPlan, type Hasher } from './plan-text.ts';
import { amountNano, durationMs, resolvePlacement, sorted } from './resolve-item.ts';
import type { JobDocument } from './schema/job-schema.ts';

/** Half an hour below the session limit, so that there is time to collect. */
const DEADLINE_DEFAULT_MS = 11 * HOUR_MS + 30 * MINUTE_MS;
const NO_PROGRESS_DEFAULT_MS = 30 * MINUTE_MS;
const BACKOFF_DEFAULT = { initialMs: 30 * SECOND_MS, factor: 2, maxMs: 10 * MINUTE_MS };
/** Failures that are nobody's fault and usually pass. */
const RETRY_DEFAULT: readonly PlanRetryRule[] = [
  { on: ['infra', 'rate_limited'], attempts: 2, ...BACKOFF_DEFAULT },
];
/** What will not change by itself stops the batch before it has failed everywhere (D32). */
const BREAKER_DEFAULT: NonNullable<Plan['breaker']> = {
  on: ['refused', 'quota'],
  windowMs: 10 * MINUTE_MS,
  count: 3,
};
const UNTIL_DEFAULT: PlanWait['until'] = ['FINISHED', 'ERROR', 'STUCK', 'WAITING_FOR_CONFIRMATION'];
const COLLECT_DEFAULT: Plan['collect'] = [{ kind: 'trajectory' }, { kind: 'diff' }];
const RECONCILE_DEFAULT = {
  settleMs: 10 * MINUTE_MS,
  windowBeforeMs: 30 * SECOND_MS,
  windowAfterMs: 5 * MINUTE_MS,
};

export function buildPlan(
  job: JobDocument,
  {
    items,
    inputs,
  }: { readonly items: readonly PlanItem[]; readonly inputs: ReadonlyMap<string, InputValue> },
  hasher: Hasher,
): Plan {
  const { cleanup } = job;
  const pool = job.placement?.pool;
  const plan: Omit<Plan, 'hash'> = {
    format: 1,
    name: job.name,
    description: job.description ?? null,
    labels: sorted(job.labels ?? {}),
    ...(inputs.size === 0 ? {} : { inputs: byName(inputs) }),
    secrets: buildSecrets(job.secrets ?? {}),
    items,
    placement: {
      ...resolvePlacement(job.placement),
      ...(pool === undefined ? {} : { pool: buildPool(pool) }),
    },
    admission: buildAdmission(job.admission),
    budget: buildBudget(job.budget, items),
    retry: job.retry?.map(buildRetry) ?? RETRY_DEFAULT,
    breaker: buildBreaker(job.breaker),
    wait: buildWait(job.wait ?? {}),
    collect: collectFor(job.deliver, job.collect ?? COLLECT_DEFAULT),
    ...(job.deliver === undefined ? {} : { deliver: buildDeliver(job.deliver) }),
    cleanup: {
      sandbox: cleanup?.sandbox ?? 'delete',
      conversation: cleanup?.conversation ?? 'keep',
      onCollectFailure: cleanup?.on_collect_failure ?? 'keep',
    },
    tolerate: { failed: job.tolerate?.failed ?? 0 },
    reconcile: buildReconcile(job.reconcile),
    ...(job.schedule === undefined ? {} : { schedule: buildSchedule(job.schedule) }),
    report: (job.report ?? []).map(({ to }) => ({ format: formatOf(to), file: to })),
    ...(job.finally === undefined ? {} : { finally: buildFinally(job.finally) }),
  };
  return { ...plan, hash: hashPlan(plan, hasher) };
}

function byName(inputs: ReadonlyMap<string, InputValue>): NonNullable<Plan['inputs']> {
  return Object.fromEntries([...inputs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function buildSecrets(secrets: NonNullable<JobDocument['secrets']>): Record<string, SecretReference> {
  return Object.fromEntries(Object.entries(secrets).sort(([a], [b]) => (a < b ? -1 : 1)));
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

function buildBreaker(breaker: JobDocument['breaker']): Plan['breaker'] {
  if (breaker === undefined) return BREAKER_DEFAULT;
  const { on, window, count, recover } = breaker;
  return {
    on,
    windowMs: durationMs(window) ?? 0,
    count,
    ...(recover === undefined
      ? {}
      : { recover: { afterMs: durationMs(recover.after) ?? 0, probes: recover.probes ?? 1 } }),
  };
}

/** `none` switches a limit off; an absent key leaves the default. */
export function buildWait({
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

function buildReconcile(reconcile: JobDocument['reconcile']): PlanReconcile | null {
  if (reconcile === undefined) return null;
  const { rows, settle, window, ambiguous, expect } = reconcile;
  return {
    rows,
    settleMs: durationMs(settle) ?? RECONCILE_DEFAULT.settleMs,
    windowBeforeMs: durationMs(window?.before) ?? RECONCILE_DEFAULT.windowBeforeMs,
    windowAfterMs: durationMs(window?.after) ?? RECONCILE_DEFAULT.windowAfterMs,
    ambiguous: ambiguous ?? 'keep',
    unmatchedNanoUsdMax: amountNano(expect?.unmatched_usd),
    ...(expect?.unbilled === undefined ? {} : { unbilledMax: expect.unbilled }),
  };
}

function formatOf(file: string): PlanReport['format'] {
  if (file.endsWith('.html')) return 'html';
  if (file.endsWith('.xml')) return 'junit';
  return file.endsWith('.jsonl') ? 'jsonl' : 'markdown';
}
