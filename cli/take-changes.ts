/**
 * A run that goes on beside a job that was changed since: what is not as it was planned, and what of it a run takes up.
 * Owns that nothing is taken up unasked. A run follows its plan: pace, budget and conversations can change, everything
 * else stays as planned until it is run anew.
 */
import { counted } from '../core/text/counted.ts';
import type { RunId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { RunSettings } from '../core/run/message.ts';
import { unsuccessfulOf, type ItemPhase, type RunItemRow } from '../core/machine/projection.ts';
import { planChanges, type PlanChanges } from '../core/run/amend/plan-changes.ts';
import { SHARD_ITEMS_MAX } from '../core/run/shards.ts';
import { LOCAL_USER } from '../activities/start-conversation.ts';
import { amendPlan } from '../dsl/plan/amend-plan.ts';
import {
  diffPlans,
  isUnchanged,
  type PlanDiff,
  type FieldChange,
  type ItemChange,
  type ItemChangeKind,
} from '../dsl/plan/plan-diff.ts';
import { CliError } from '../host/cli-error.ts';
import type { Host } from '../host/host-port.ts';
import { SHA256 } from '../host/job/job-file.ts';
import { cut } from '../host/terminal-text.ts';

export interface ChangedJob {
  readonly host: Host;
  readonly runId: RunId;
  /** Of the run. */
  readonly planned: Plan;
  /** The file as it is now, compiled. */
  readonly job: Plan;
  readonly accepts: boolean;
  /** Who sends the requests, and the beginning of their ids. */
  readonly by: string;
  readonly requestId: string;
  /** For people. */
  say(text: string): void;
}

/**
 * Sends the run what it can take up, once the user accepted it. Returns the plan that it has from then on.
 * @throws CliError when the job has changed and the user did not accept it, or when it is another job
 */
export async function takeChanges(changed: ChangedJob): Promise<Plan> {
  const { host, runId, planned, job, accepts, by, requestId, say } = changed;
  if (job.name !== planned.name)
    throw new CliError(
      `Cannot go on with the run "${runId}": its job is "${planned.name}", not "${job.name}"`,
    );
  const rows = await host.runItems(runId);
  const diff = diffPlans(planned, job, new Map(rows.map(({ key, outcome }) => [key, outcome])));
  if (isUnchanged(diff)) return planned;
  // Reused and retried conversations simply go on here: they are news only before a new run.
  const items = diff.items.filter(({ kind }) => kind !== 'reused' && kind !== 'retried');
  for (const line of planDiffLines({ ...diff, items }, runId)) say(line);
  if (!accepts)
    throw new CliError(`Cannot go on with the run "${runId}": its job has changed`, {
      remedy: 'add --accept-changes, resume without the file to follow the plan, or start another run',
    });
  const settings = settingsOf(diff);
  if (Object.keys(settings).length > 0)
    await host.tellRun(runId, { type: 'settingsChanged', requestId: `${requestId}-accept`, by, settings });
  const fields = diff.run.filter(({ field }) => SETTINGS[field] === undefined).map(({ field }) => field);
  if (fields.length > 0) say(`as planned: ${fields.join(', ')}`);
  return await takeItems(changed, rows);
}

/** New and changed conversations; what is not taken up is named: silence would read as a promise. */
async function takeItems(changed: ChangedJob, rows: readonly RunItemRow[]): Promise<Plan> {
  const { host, runId, planned, job, by, requestId, say } = changed;
  const outcomes = new Map(rows.map(({ key, outcome }) => [key, outcome]));
  const { plan, retired, kept } = amendPlan(planned, job, { outcomes, hasher: SHA256 });
  const phases = new Map(rows.map(({ key, phase }) => [key, phase]));
  const waiting = retired.filter((index) => phases.get(planned.items[index]?.key ?? '') === 'waiting');
  if (kept.length > 0)
    say(
      `as they are: ${counted(kept.length, 'changed conversation')} that succeeded; run them anew with "parley run FILE --only KEY"`,
    );
  if (plan === planned && waiting.length === 0) return planned;
  const why = await whyNot(changed, plan);
  if (why !== null) {
    say(`as planned: every conversation; ${why}`);
    return planned;
  }
  const changes = planChanges(planned, plan, { runId, userId: LOCAL_USER });
  const event = {
    type: 'planAmended',
    requestId: `${requestId}-plan`,
    by,
    ...changes,
    retired: waiting,
  } as const;
  await host.tellRun(runId, event, plan);
  for (const words of takenWords(changes, { planned, phases, waiting: waiting.length })) say(words);
  return plan;
}

/** Why this run takes up no other conversations; null when it does. */
async function whyNot({ host, runId, planned }: ChangedJob, plan: Plan): Promise<string | null> {
  // Whether items live in shards is decided when a run begins.
  if (planned.items.length <= SHARD_ITEMS_MAX && plan.items.length > SHARD_ITEMS_MAX)
    return `a run that began with at most ${SHARD_ITEMS_MAX} does not grow beyond that; start another run`;
  const row = await host.run(runId);
  const hasSucceeded = row?.phase === 'finished' && unsuccessfulOf(row) === 0;
  return hasSucceeded ? 'the run has ended for good; start another one' : null;
}

interface Before {
  readonly planned: Plan;
  readonly phases: ReadonlyMap<string, ItemPhase>;
  /** Conversations that the job no longer has, and that have not begun. */
  readonly waiting: number;
}

/** By what the rows said: the run decides by where each conversation stands when it receives the change. */
function takenWords(
  { changed, added }: PlanChanges,
  { planned, phases, waiting }: Before,
): readonly string[] {
  const anew = changed.filter(({ isAnew }) => isAnew).map(({ index }) => planned.items[index]?.key ?? '');
  const inFlight = anew.filter((key) => !REST.has(phases.get(key) ?? 'waiting')).length;
  const counts: readonly (readonly [number, string, string])[] = [
    [added.length, 'new conversation', 'taken up'],
    [anew.length - inFlight, 'changed conversation', 'taken up'],
    [
      inFlight,
      'changed conversation',
      'as planned until the attempt in flight has ended, changed from the next one on',
    ],
    [waiting, 'conversation that the job no longer has', 'cancelled'],
  ];
  return counts.filter(([count]) => count > 0).map(([count, what, how]) => `${how}: ${counted(count, what)}`);
}

const REST: ReadonlySet<ItemPhase> = new Set<ItemPhase>(['waiting', 'ended']);

/** Fields of a plan that a run can change, as the settings that it receives. */
const SETTINGS: Readonly<Record<string, (value: unknown) => RunSettings>> = {
  'admission.concurrency': (value) => ({ concurrency: value as number }),
  'admission.startEveryMs': (value) => ({ startEveryMs: (value as number | undefined) ?? null }),
  'budget.nanoUsd': (value) => ({ budgetNanoUsd: value as number }),
};

function settingsOf({ run }: PlanDiff): RunSettings {
  return run.reduce<RunSettings>(
    (settings, { field, after }) => ({ ...settings, ...SETTINGS[field]?.(after) }),
    {},
  );
}

const SIGNS: Readonly<Record<ItemChangeKind, string>> = {
  new: '+',
  changed: '~',
  reused: '=',
  retried: '!',
  orphaned: '-',
};
const KINDS: readonly ItemChangeKind[] = ['new', 'changed', 'reused', 'retried', 'orphaned'];
const SHOWN_KINDS: readonly ItemChangeKind[] = ['changed', 'retried', 'orphaned', 'new'];
/** What is more is in --json. */
const SHOWN_MAX = 50;
const VALUE_WIDTH = 60;

/** A comparison of plans as lines for people: counts first, then what is not as it was. */
export function planDiffLines(diff: PlanDiff, against: string): string[] {
  const counts = KINDS.map((kind) => ({
    kind,
    count: diff.items.filter((item) => item.kind === kind).length,
  }));
  const summary = counts
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${SIGNS[kind]} ${count} ${kind}`);
  // What a person wants to see first: of many conversations most are new, and the list is cut.
  const shown = SHOWN_KINDS.flatMap((kind) => diff.items.filter((item) => item.kind === kind));
  return [
    `against ${against}: ${summary.length === 0 ? 'no conversation changed' : summary.join('   ')}`,
    ...diff.run.map((change) => `  ~ ${fieldLine(change)}`),
    ...shown.slice(0, SHOWN_MAX).flatMap(itemLines),
    ...(shown.length > SHOWN_MAX
      ? [`  and ${counted(shown.length - SHOWN_MAX, 'more conversation')}; see --json`]
      : []),
  ];
}

function itemLines({ kind, key, fields, outcome }: ItemChange): string[] {
  const why = kind === 'retried' ? ` (${outcome ?? 'had not ended'})` : '';
  return [`  ${SIGNS[kind]} ${key}${why}`, ...fields.map((change) => `      ${fieldLine(change)}`)];
}

function fieldLine({ field, before, after }: FieldChange): string {
  return `${field}: ${valueText(before)} → ${valueText(after)}`;
}

function valueText(value: unknown): string {
  return value === undefined ? 'not set' : cut(JSON.stringify(value), VALUE_WIDTH);
}
