/**
 * A plan by chance: a few items under every rule that a job can set.
 * Owns the ranges; a plan made here is what a compiled job could be.
 */
import type { Plan, PlanItem, PlanReconcile } from '../../core/plan/plan.ts';
import { FAILURE_CLASSES, GROUPING_STRATEGIES } from '../../core/status.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { sandboxIdNamed } from '../models/derived-id.ts';
import type { RandomStream } from '../random.ts';
import { between, wholeMagnitude, pick, some } from './choose.ts';

const ITEMS_MAX = 8;
/** One USD. */
const USD = 1_000_000_000;

export interface PlanConstraints {
  /** At least one item, and no more; null leaves it to chance. */
  readonly itemsMax: number | null;
  /** Reconciles at all, and after how long; null leaves it to chance. */
  readonly settle: 'none' | 'atOnce' | 'later' | null;
  /** An item's deadline strikes before its start is answered. */
  readonly hasty: boolean;
  /** Failed attempts are never tried again, or wait for hours. */
  readonly retry: 'none' | 'long' | null;
  /** A webhook is notified of its end; null leaves it to chance. */
  readonly tells: boolean | null;
  /** Its pool is made ahead, and its sandboxes stay at the end; false leaves both to chance. */
  readonly warms: boolean;
}

export function randomPlan(stream: RandomStream, name: string, aims: PlanConstraints): Plan {
  const count = between(stream, 1, aims.itemsMax ?? ITEMS_MAX);
  return {
    format: 1,
    name,
    description: null,
    labels: {},
    secrets: {},
    items: Array.from({ length: count }, (_, index) => randomItem(stream, name, index)),
    placement: {
      strategy: stream.happens(0.4) ? 'NO_GROUPING' : pick(stream, [null, ...GROUPING_STRATEGIES]),
      sandboxId: stream.happens(0.05) ? sandboxIdNamed('box-0') : null,
      ...randomPool(stream.split('pool'), aims.warms),
    },
    admission: { concurrency: between(stream, 1, 5) },
    budget: stream.happens(0.3) ? randomBudget(stream) : null,
    retry: randomRetry(stream, aims.retry),
    breaker: stream.happens(0.25)
      ? {
          on: some(stream, FAILURE_CLASSES, 0.5),
          windowMs: wholeMagnitude(stream, MINUTE_MS, DAY_MS),
          count: between(stream, 1, 3),
          ...randomRecovery(stream.split('recovery')),
        }
      : null,
    wait: randomWait(stream, aims.hasty),
    collect: stream.split('collect').happens(0.5) ? [{ kind: 'diff' }] : [],
    cleanup: randomCleanup(stream, aims.warms),
    tolerate: { failed: 0 },
    reconcile: randomReconcile(stream, aims.settle),
    report: [],
    ...randomLastSteps(stream.split('last steps'), aims.tells),
    hash: `plan ${name}`,
  };
}

function randomCleanup(stream: RandomStream, keeps: boolean): Plan['cleanup'] {
  const cleanup: Plan['cleanup'] = {
    sandbox: pick(stream, ['delete', 'pause', 'keep'], [4, 1, 1]),
    conversation: pick(stream, ['keep', 'delete'], [2, 1]),
    onCollectFailure: pick(stream, ['keep', 'delete']),
  };
  return keeps ? { ...cleanup, sandbox: 'keep' } : cleanup;
}

/** Small, so that it is full and recycled within a run; an explicit sandbox goes before it. */
function randomPool(stream: RandomStream, warms: boolean): Pick<Plan['placement'], 'pool'> {
  if (!warms && stream.happens(0.7)) return {};
  return {
    pool: {
      size: between(stream, 1, 3),
      maxPerSandbox: between(stream, 1, 3),
      recycleAfter: stream.happens(0.4) ? between(stream, 1, 4) : null,
      recycleAgeMs: stream.happens(0.3) ? wholeMagnitude(stream, MINUTE_MS, 10 * HOUR_MS) : null,
      onFull: pick(stream, ['wait', 'spill', 'fail']),
      warm: warms || stream.happens(0.5),
    },
  };
}

function randomItem(stream: RandomStream, name: string, index: number): PlanItem {
  return {
    key: `${name}-${index}`,
    entry: 'item',
    matrix: {},
    prompt: 'do it',
    repository: null,
    model: 'm',
    tags: {},
    secrets: {},
    verify: stream.happens(0.4) ? { command: 'check', timeoutMs: HOUR_MS } : null,
    limits: {
      workingMs: stream.happens(0.25) ? wholeMagnitude(stream, MINUTE_MS, 20 * HOUR_MS) : null,
      turns: null,
      nanoUsd: stream.happens(0.25) ? wholeMagnitude(stream, USD / 10, 10 * USD) : null,
    },
    priority: between(stream, 0, 2),
    index,
    specHash: `item ${index}`,
  };
}

function randomRecovery(stream: RandomStream): Pick<NonNullable<Plan['breaker']>, 'recover'> {
  if (stream.happens(0.4)) return {};
  return {
    recover: { afterMs: wholeMagnitude(stream, SECOND_MS, 2 * HOUR_MS), probes: between(stream, 1, 3) },
  };
}

function randomLastSteps(stream: RandomStream, wish: PlanConstraints['tells']): Pick<Plan, 'finally'> {
  if (!(wish ?? stream.happens(0.3))) return {};
  return {
    finally: Array.from({ length: between(stream, 1, 3) }, () => ({
      kind: 'notify',
      to: { url: 'https://receiver.example' },
      keySecret: null,
      text: 'it is over',
      when: 'always',
      timeoutMs: wholeMagnitude(stream, SECOND_MS, 10 * MINUTE_MS),
    })),
  };
}

function randomBudget(stream: RandomStream): Plan['budget'] {
  return {
    nanoUsd: wholeMagnitude(stream, USD, 30 * USD),
    reserveNanoUsd: wholeMagnitude(stream, USD / 2, 2 * USD),
    mode: pick(stream, ['observe', 'audit', 'enforce']),
  };
}

function randomRetry(stream: RandomStream, wish: PlanConstraints['retry']): Plan['retry'] {
  if (wish === 'none') return [];
  if (wish === null && stream.happens(0.4)) return [];
  const initialMs = wish === 'long' ? 5 * HOUR_MS : wholeMagnitude(stream, SECOND_MS, HOUR_MS);
  return [
    {
      on: wish === 'long' ? FAILURE_CLASSES : some(stream, FAILURE_CLASSES, 0.6),
      attempts: between(stream, 1, 4),
      initialMs,
      factor: pick(stream, [1, 2]),
      maxMs: Math.max(initialMs, HOUR_MS),
    },
  ];
}

function randomWait(stream: RandomStream, hasty: boolean): Plan['wait'] {
  const deadlineMs = pick(stream, [null, 3 * DAY_MS, 3 * HOUR_MS, 20 * MINUTE_MS], [2, 3, 2, 1]);
  return {
    until: [
      'FINISHED',
      'ERROR',
      'STUCK',
      ...(stream.happens(0.7) ? (['WAITING_FOR_CONFIRMATION'] as const) : []),
    ],
    deadlineMs: hasty ? SECOND_MS : deadlineMs,
    noProgressMs: stream.happens(0.5) ? wholeMagnitude(stream, MINUTE_MS, HOUR_MS) : null,
    onSessionLimit: pick(stream, ['resume', 'stop']),
  };
}

function randomReconcile(stream: RandomStream, wish: PlanConstraints['settle']): PlanReconcile | null {
  const settle = wish ?? pick(stream, ['none', 'atOnce', 'later'] as const);
  if (settle === 'none') return null;
  return {
    rows: { from: 'proxy' },
    settleMs: settle === 'atOnce' ? 0 : wholeMagnitude(stream, MINUTE_MS, 4 * HOUR_MS),
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    unmatchedNanoUsdMax: null,
  };
}
