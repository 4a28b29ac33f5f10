/**
 * The plan of a run with what a changed job brings: the items it has stay at their places, new ones come behind them.
 * Owns which items are taken over; a run that goes on decides by where each of them stands what becomes of it.
 */
import type { Plan, PlanItem } from '../core/plan.ts';
import type { Outcome } from '../core/status.ts';
import { hashPlan, type Hasher } from './plan-text.ts';

export interface AmendedPlan {
  readonly plan: Plan;
  /** Positions of items that the job no longer has. */
  readonly retired: readonly number[];
  /** Keys of changed items that have succeeded: they stay as they were planned. */
  readonly kept: readonly string[];
}

/**
 * `outcomes`: of items that have ended, by key. The run's own rules stay as planned. The same job gives the same plan,
 * and the plan itself when it brings no other item.
 */
export function amendPlan(
  planned: Plan,
  job: Plan,
  { outcomes, hasher }: { readonly outcomes: ReadonlyMap<string, Outcome | null>; readonly hasher: Hasher },
): AmendedPlan {
  const wanted = new Map(job.items.map((item) => [item.key, item]));
  const known = new Set(planned.items.map(({ key }) => key));
  const isChanged = ({ key, specHash }: PlanItem): boolean =>
    wanted.has(key) && wanted.get(key)?.specHash !== specHash;
  const hasSucceeded = ({ key }: PlanItem): boolean => outcomes.get(key) === 'succeeded';
  const old = planned.items.map((item) =>
    isChanged(item) && !hasSucceeded(item) ? { ...(wanted.get(item.key) ?? item), index: item.index } : item,
  );
  const added = job.items
    .filter(({ key }) => !known.has(key))
    .map((item, position) => ({ ...item, index: old.length + position }));
  const items = [...old, ...added];
  // A new item may need a secret that the job declares for it; one that was planned leads where it led.
  const secrets = byName({ ...job.secrets, ...planned.secrets });
  const { hash: _hash, ...rest } = { ...planned, items, secrets };
  const isSame = added.length === 0 && old.every((item, index) => item === planned.items[index]);
  return {
    plan: isSame ? planned : { ...rest, hash: hashPlan(rest, hasher) },
    retired: planned.items.filter(({ key }) => !wanted.has(key)).map(({ index }) => index),
    kept: planned.items.filter((item) => isChanged(item) && hasSucceeded(item)).map(({ key }) => key),
  };
}

function byName(secrets: Plan['secrets']): Plan['secrets'] {
  return Object.fromEntries(Object.entries(secrets).sort(([a], [b]) => (a < b ? -1 : 1)));
}
