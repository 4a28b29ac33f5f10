/**
 * `admission` and `budget` of a checked job as the plan has them.
 * Owns their built-in defaults; what the job does not write is absent from the plan, so that its hash stays the same.
 */
import type { PlanAdmission, PlanBudget, PlanItem, PlanKeyedLimit } from '../../core/plan/plan.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { amountNano, durationMs } from './resolve-item.ts';
import type { JobDocument } from '../schema/job-schema.ts';
import { RATE } from '../schema/run-schema.ts';

const CONCURRENCY_DEFAULT = 10;
const PLACES_MIN_DEFAULT = 1;

export function buildAdmission(admission: JobDocument['admission'] = {}): PlanAdmission {
  const {
    concurrency = CONCURRENCY_DEFAULT,
    per = {},
    rate,
    ramp,
    adaptive,
    order,
    seed,
    canary,
  } = admission;
  const rampMs = durationMs(ramp);
  return {
    concurrency,
    ...(Object.keys(per).length === 0 ? {} : { per: keyedLimits(per) }),
    ...(rate === undefined ? {} : { startEveryMs: startEveryMs(rate) }),
    ...(rampMs === null ? {} : { rampMs }),
    ...(adaptive === undefined
      ? {}
      : { adaptive: { on: adaptive.on ?? ['rate_limited'], min: adaptive.min ?? PLACES_MIN_DEFAULT } }),
    ...(order === 'position' ? { order: { by: 'position' } } : {}),
    ...(order === 'shuffle' ? { order: { by: 'shuffle', seed: seed ?? 0 } } : {}),
    ...(canary === undefined ? {} : { canary }),
  };
}

/** In the order of their names: equal plans are equal texts. */
function keyedLimits(per: Readonly<Record<string, number>>): readonly PlanKeyedLimit[] {
  const names = Object.keys(per).sort((a, b) => (a < b ? -1 : 1));
  return names.map((text) => ({ ...readKeyedLimit(text), max: per[text] ?? 1 }));
}

/** `tags.owner.alice` is a field, a name and a value; `model.strong` a field and a value. */
function readKeyedLimit(text: string): Omit<PlanKeyedLimit, 'max'> {
  const [field = '', ...rest] = text.split('.');
  const isNamed = field === 'tags' || field === 'matrix';
  const name = isNamed ? (rest[0] ?? null) : null;
  const value = rest.slice(isNamed ? 1 : 0).join('.');
  return { field: field as PlanKeyedLimit['field'], name, value: value === '' ? null : value };
}

const RATE_UNITS: Readonly<Record<string, number>> = { s: SECOND_MS, min: MINUTE_MS, h: HOUR_MS };

/** `30/min`, as `admission.rate` takes it; null when the text is no rate. */
export function parseRate(text: string): number | null {
  return RATE.pattern.test(text) ? startEveryMs(text) : null;
}

/** Milliseconds from one start to the next, rounded up: never more starts than asked for. */
function startEveryMs(rate: string): number {
  const [count = '1', unit = 'min'] = rate.split('/');
  return Math.ceil((RATE_UNITS[unit] ?? MINUTE_MS) / Number(count));
}

/** Without `reserve`, the largest limit of one item is held back: no item can cost more. */
export function buildBudget(budget: JobDocument['budget'], items: readonly PlanItem[]): PlanBudget | null {
  if (budget === undefined) return null;
  const { usd, reserve, mode = 'enforce', soft, on_exceeded: onExceeded = 'pause' } = budget;
  const largest = items.reduce((most, item) => Math.max(most, item.limits.nanoUsd ?? 0), 0);
  const nanoUsd = amountNano(usd) ?? 0;
  return {
    nanoUsd,
    reserveNanoUsd: amountNano(reserve) ?? largest,
    mode,
    ...(onExceeded === 'pause' ? {} : { onExceeded }),
    ...(soft === undefined ? {} : { softNanoUsd: Math.floor((nanoUsd / 100) * Number.parseInt(soft, 10)) }),
  };
}
