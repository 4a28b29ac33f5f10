/**
 * A checked job and its items as the plan.
 * Owns the built-in defaults of a run and the hash of the plan.
 */
import type { PlanPool } from '../../core/placement/place-in-pool.ts';
import type { PlanIssues } from '../../core/plan/plan-issue.ts';
import type {
  Plan,
  PlanItem,
  PlanReconcile,
  PlanReport,
  PlanNotify,
  PlanSchedule,
} from '../../core/plan/plan.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { buildAdmission, buildBudget } from './build-admission.ts';
import { buildDeliver } from './build-deliver.ts';
import { rulesOfRun } from '../build-own-rules.ts';
import type { InputValue } from '../inputs/input-value.ts';
import { hashPlan, type Hasher } from './plan-text.ts';
import { amountNano, durationMs, resolvePlacement, sorted } from './resolve-item.ts';
import type { JobDocument } from '../schema/job-schema.ts';

/** What will not change by itself stops the batch before it has failed everywhere (D32). */
const BREAKER_DEFAULT: NonNullable<Plan['breaker']> = {
  on: ['refused', 'quota'],
  windowMs: 10 * MINUTE_MS,
  count: 3,
};
const RECONCILE_DEFAULT = {
  settleMs: 10 * MINUTE_MS,
  windowBeforeMs: 30 * SECOND_MS,
  windowAfterMs: 5 * MINUTE_MS,
};

interface PlanParts {
  readonly items: readonly PlanItem[];
  readonly issues: readonly PlanIssues[];
  readonly inputs: ReadonlyMap<string, InputValue>;
}

export function buildPlan(job: JobDocument, { items, issues, inputs }: PlanParts, hasher: Hasher): Plan {
  const { cleanup } = job;
  const { retry, wait, collect } = rulesOfRun(job);
  const pool = job.placement?.pool;
  const plan: Omit<Plan, 'hash'> = {
    format: 1,
    name: job.name,
    description: job.description ?? null,
    labels: sorted(job.labels ?? {}),
    ...(inputs.size === 0 ? {} : { inputs: sorted(Object.fromEntries(inputs)) }),
    secrets: sorted(job.secrets ?? {}),
    items,
    ...(issues.length === 0 ? {} : { issues }),
    placement: {
      ...resolvePlacement(job.placement),
      ...(pool === undefined ? {} : { pool: buildPool(pool) }),
    },
    admission: buildAdmission(job.admission),
    budget: buildBudget(job.budget, items),
    retry,
    breaker: buildBreaker(job.breaker),
    wait,
    collect,
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

/** Long enough for a receiver that is being restarted. */
const TIMEOUT_DEFAULT_MS = 2 * MINUTE_MS;
const TEXT_DEFAULT = '{job} {run}: {status}, {succeeded} of {total} succeeded, {usd} USD';

/** What is done when a run has ended, as the plan has it. */
function buildFinally(steps: NonNullable<JobDocument['finally']>): readonly PlanNotify[] {
  return steps.map(({ notify: { to, key, text, when, timeout } }) => ({
    kind: 'notify',
    to: to.from === 'url' ? { url: to.url } : { secret: to.secret },
    keySecret: key ?? null,
    text: text ?? TEXT_DEFAULT,
    when: when ?? 'always',
    timeoutMs: durationMs(timeout) ?? TIMEOUT_DEFAULT_MS,
  }));
}

function buildSchedule(schedule: NonNullable<JobDocument['schedule']>): PlanSchedule {
  return {
    cron: schedule.cron,
    timezone: schedule.timezone ?? 'UTC',
    overlap: schedule.overlap ?? 'skip',
    catchupMs: durationMs(schedule.catchup),
    jitterMs: durationMs(schedule.jitter),
    paused: schedule.paused ?? false,
  };
}

/** As without a pool: sandboxes are not shared unless the job says so. */
const PLACES_DEFAULT = 1;

type PoolDocument = NonNullable<NonNullable<JobDocument['placement']>['pool']>;

/** `placement.pool` of a job as a plan has it. */
function buildPool({ size, max_per_sandbox, recycle, on_full, warm }: PoolDocument): PlanPool {
  return {
    size,
    maxPerSandbox: max_per_sandbox ?? PLACES_DEFAULT,
    recycleAfter: recycle?.after ?? null,
    recycleAgeMs: durationMs(recycle?.max_age),
    onFull: on_full ?? 'wait',
    warm: warm ?? false,
  };
}
