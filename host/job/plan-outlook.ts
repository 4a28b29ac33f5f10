/**
 * What a plan will cost and take at most, and which limits its run will meet.
 * Owns the arithmetic over limits, and over what an earlier run of the job took; nothing is played here.
 */
import type { JobOutlook } from '../../api/jobs/job-compiler.ts';
import { counted } from '../../core/text/counted.ts';
import { knownItems } from '../../core/plan/known-items.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { slotName } from '../../core/run/run-spec.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { outlastsSession } from '../../core/sandbox/session.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { duration, usd } from '../../core/text/amounts.ts';

export interface Outlook extends JobOutlook {
  /** How long the last of them waits for its turn, each as long as half of the earlier ones. */
  readonly waitP50Ms: number | null;
}

export interface OutlookContext {
  readonly deployment: Pick<DeploymentConfig['deployment'], 'capacity' | 'limits'> | null;
  /** Of the last run of the job; empty without one. */
  readonly history: readonly RunItemRow[];
}

/** What a run of the plan is likely to cost and to take, from earlier runs. */
export function planOutlook(plan: Plan, { deployment, history }: OutlookContext): Outlook {
  const items = knownItems(plan);
  const costs = history.flatMap(({ costNanoUsd }) => (costNanoUsd === null ? [] : [costNanoUsd]));
  const times = history.flatMap(({ admittedAt, endedAt }) =>
    admittedAt === null || endedAt === null ? [] : [endedAt - admittedAt],
  );
  const peak = peakOf(plan, deployment);
  const waves = wavesOf(plan, peak);
  const each = (values: readonly number[], share: number, factor: number): number | null => {
    const value = quantile(values, share);
    return value === null ? null : value * factor;
  };
  return {
    costMaxNanoUsd: items.some(({ limits }) => limits.nanoUsd === null)
      ? null
      : items.reduce((sum, { limits }) => sum + (limits.nanoUsd ?? 0), 0),
    costP50NanoUsd: each(costs, 0.5, items.length),
    costP90NanoUsd: each(costs, 0.9, items.length),
    timeP50Ms: each(times, 0.5, waves),
    timeP90Ms: each(times, 0.9, waves),
    waitP50Ms: each(times, 0.5, waves - 1),
    peak,
    sandboxesPeak: sandboxesOf(plan, { deployment, peak }),
    models: countsOf(items.map(({ model }) => model)),
    budgetNanoUsd: plan.budget?.nanoUsd ?? null,
    limits: limitsMet(plan, { deployment, peak }),
  };
}

/** Rounds of as many as may be at once. */
function wavesOf({ items }: Plan, peak: number): number {
  return Math.ceil(items.length / Math.max(1, peak));
}

function countsOf(names: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}

/** At most: the first conversations get a sandbox each while there is room, whatever the strategy. */
function sandboxesOf(
  { placement }: Plan,
  { deployment, peak }: { readonly deployment: OutlookContext['deployment']; readonly peak: number },
): number | null {
  if (placement.sandboxId !== null) return 1;
  const { pool } = placement;
  if (deployment === null) return pool === undefined || pool.onFull === 'spill' ? null : pool.size;
  const { installationMax, userMax } = deployment.capacity;
  if (pool !== undefined && pool.onFull !== 'spill') return Math.min(pool.size, installationMax, userMax);
  return Math.min(peak, installationMax, userMax);
}

/** With one conversation a sandbox, capacity is slots; shared sandboxes hold several. */
function peakOf({ items, admission, placement }: Plan, deployment: OutlookContext['deployment']): number {
  const asked = Math.min(items.length, admission.concurrency);
  const { pool } = placement;
  const isClosed = pool !== undefined && pool.onFull !== 'spill';
  const wanted = isClosed ? Math.min(asked, pool.size * pool.maxPerSandbox) : asked;
  if (deployment === null || placement.sandboxId !== null) return wanted;
  const { installationMax, userMax, conversationsPerSandboxMax } = deployment.capacity;
  if (isClosed)
    return Math.min(
      wanted,
      Math.min(pool.size, installationMax, userMax) *
        Math.min(pool.maxPerSandbox, conversationsPerSandboxMax),
    );
  const alone = placement.strategy === 'NO_GROUPING';
  const slots = Math.min(installationMax, userMax) * (alone ? 1 : conversationsPerSandboxMax);
  return Math.min(wanted, slots);
}

function limitsMet(
  plan: Plan,
  { deployment, peak }: { readonly deployment: OutlookContext['deployment']; readonly peak: number },
): string[] {
  const { items, admission, budget, wait } = plan;
  const wanted = Math.min(items.length, admission.concurrency);
  const reserved = budget === null ? 0 : budget.reserveNanoUsd * items.length;
  const waits = [wait, ...items.flatMap((item) => item.wait ?? [])];
  // Of the job, or of a conversation of its own.
  const noProgress = finite(waits.map(({ noProgressMs }) => noProgressMs)).reduce(
    (a, b) => Math.max(a, b),
    0,
  );
  const tooLong = waits.find(({ deadlineMs }) => deadlineMs === null || outlastsSession(deadlineMs));
  const idle = deployment?.limits.idleTimeMs ?? 0;
  const said: (string | false)[] = [
    ...paceSaid(admission),
    admission.concurrency < items.length &&
      `admission.concurrency: ${admission.concurrency} of ${counted(items.length, 'conversation')} at once`,
    ...poolSaid(plan, deployment),
    peak < wanted &&
      plan.placement.pool === undefined &&
      `capacity: sandboxes for ${peak} of ${wanted} at once; the others wait their turn, ${counted(wavesOf(plan, peak), 'round')} in all`,
    tooLong !== undefined &&
      `session: it ends after 12h (D10), and the deadline is ${duration(tooLong.deadlineMs)}`,
    budget !== null &&
      budget.mode === 'enforce' &&
      reserved > budget.nanoUsd &&
      `budget: ${usd(budget.nanoUsd)} is less than what is held back for all, ${usd(reserved)}`,
    idle > 0 &&
      noProgress > idle &&
      `idle time: a sandbox without activity is paused after ${duration(idle)}, before no_progress ends its work`,
  ];
  return said.filter((sentence): sentence is string => sentence !== false);
}

function finite(lengths: readonly (number | null)[]): number[] {
  return lengths.filter((length) => length !== null);
}

/** A pool that holds items back, and one that the deployment has no room for. */
function poolSaid(
  { items, admission, placement: { pool } }: Plan,
  deployment: OutlookContext['deployment'],
): string[] {
  if (pool === undefined) return [];
  const { size, maxPerSandbox, onFull } = pool;
  const places = size * maxPerSandbox;
  const wanted = Math.min(items.length, admission.concurrency);
  const said =
    places < wanted && onFull !== 'spill'
      ? [`pool: ${places} of ${wanted} at once; the others ${onFull === 'wait' ? 'wait' : 'fail'}`]
      : [];
  if (deployment === null) return said;
  const { installationMax, userMax, conversationsPerSandboxMax } = deployment.capacity;
  const room = Math.min(installationMax, userMax);
  if (size > room) said.push(`capacity: the pool has ${size} sandboxes, and there are slots for ${room}`);
  if (maxPerSandbox > conversationsPerSandboxMax)
    said.push(
      `capacity: ${maxPerSandbox} at once in a sandbox of the pool, and the deployment allows ${conversationsPerSandboxMax}`,
    );
  return said;
}

/** What keeps starts apart, as the job spells it. */
function paceSaid({ per = [], startEveryMs, rampMs }: Plan['admission']): string[] {
  return [
    ...per.map(
      (limit) => `per.${slotName(limit)}: ${limit.max} at once${limit.value === null ? ' of each' : ''}`,
    ),
    ...(startEveryMs === undefined ? [] : [`rate: a start every ${duration(startEveryMs)} at most`]),
    ...(rampMs === undefined ? [] : [`ramp: all places after ${duration(rampMs)}`]),
  ];
}

function waitSaid(waitMs: number | null): string {
  return waitMs === null || waitMs === 0 ? '' : `; the last one waits ${duration(waitMs)} for its turn`;
}

/** The smallest value that this share of the values does not exceed. */
function quantile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

/** An outlook as people read it. */
export function outlookLines({
  costMaxNanoUsd,
  costP50NanoUsd,
  costP90NanoUsd,
  timeP50Ms,
  timeP90Ms,
  waitP50Ms,
  peak,
  sandboxesPeak,
  models,
  budgetNanoUsd,
  limits,
}: Outlook): string[] {
  const cost = [
    ...(costP50NanoUsd === null ? [] : [`p50 ${usd(costP50NanoUsd)}`, `p90 ${usd(costP90NanoUsd)}`]),
    costMaxNanoUsd === null ? 'no limit' : `at most ${usd(costMaxNanoUsd)}`,
    ...(budgetNanoUsd === null ? [] : [`budget ${usd(budgetNanoUsd)}`]),
  ];
  const sandboxes = sandboxesPeak === null ? '' : `, sandboxes at most ${sandboxesPeak}`;
  const time =
    timeP50Ms === null
      ? []
      : [
          `time: p50 ${duration(timeP50Ms)}, p90 ${duration(timeP90Ms)}, from the last run${waitSaid(waitP50Ms)}`,
        ];
  return [
    `models: ${Object.entries(models)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    `cost: ${cost.join(', ')}; ${peak} at once${sandboxes}`,
    ...time,
    ...limits.map((sentence) => `limit: ${sentence}`),
  ];
}
