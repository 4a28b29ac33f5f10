/**
 * The plan of a run with what a changed job brings: the items it has stay at their places, new ones come behind them.
 * Owns which items are taken over; a run that goes on decides by where each of them stands what becomes of it.
 */
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { Outcome } from '../../core/status.ts';
import { hashPlan, type Hasher } from './plan-text.ts';
import { sorted } from './resolve-item.ts';

interface AmendedPlan {
  readonly plan: Plan;
  /** Positions of items that the job no longer has. */
  readonly retired: readonly number[];
  /** Keys of changed items that have succeeded: they stay as they were planned. */
  readonly kept: readonly string[];
}

/**
 * `outcomes`: of items that have ended, by key. Pace and budget are the job's, the run's other rules stay as planned.
 * The same job gives the same plan, and the plan itself when it brings nothing else.
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
  // How copies are judged makes none of them another one, and is the job's.
  const judgedAs = (item: PlanItem): PlanItem => {
    const { whole: before, ...rest } = item;
    const job = wanted.get(item.key);
    const isSameRule =
      job === undefined || (job.whole?.rule === before?.rule && job.whole?.key === before?.key);
    return isSameRule ? item : { ...rest, ...(job.whole === undefined ? {} : { whole: job.whole }) };
  };
  const old = planned.items.map((item) =>
    isChanged(item) && !hasSucceeded(item)
      ? { ...(wanted.get(item.key) ?? item), index: item.index }
      : judgedAs(item),
  );
  const added = job.items
    .filter(({ key }) => !known.has(key))
    .map((item, position) => ({ ...item, index: old.length + position }));
  const items = [...old, ...added];
  // A new item may need a secret that the job declares for it; one that was planned leads where it led.
  const secrets = sorted({ ...job.secrets, ...planned.secrets });
  const settings = settingsOf(planned, job);
  const { hash: _hash, ...rest } = { ...planned, ...settings, items, secrets };
  const isSame =
    settings === null && added.length === 0 && old.every((item, index) => item === planned.items[index]);
  return {
    plan: isSame ? planned : { ...rest, hash: hashPlan(rest, hasher) },
    retired: planned.items.filter(({ key }) => !wanted.has(key)).map(({ index }) => index),
    kept: planned.items.filter((item) => isChanged(item) && hasSucceeded(item)).map(({ key }) => key),
  };
}

/** What a run can change of its own rules while it goes on; null when that is the same. */
function settingsOf(planned: Plan, job: Plan): Pick<Plan, 'admission' | 'budget'> | null {
  const { startEveryMs: _every, ...rest } = planned.admission;
  const { concurrency, startEveryMs } = job.admission;
  const admission = { ...rest, concurrency, ...(startEveryMs === undefined ? {} : { startEveryMs }) };
  const isBounded = planned.budget !== null && job.budget !== null;
  const budget = isBounded ? { ...planned.budget, nanoUsd: job.budget.nanoUsd } : planned.budget;
  const isSame =
    concurrency === planned.admission.concurrency &&
    startEveryMs === planned.admission.startEveryMs &&
    budget?.nanoUsd === planned.budget?.nanoUsd;
  return isSame ? null : { admission, budget };
}
