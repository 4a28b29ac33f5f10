/**
 * Conversations that are made from rows which an earlier stage of their run writes: taken up as soon as that stage has
 * ended well.
 * Owns when that is, the reading of the rows, and what becomes of a place whose rows cannot be had.
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import { counted } from '../../core/text/counted.ts';
import type { RunId } from '../../core/ids.ts';
import { isAwaiting, isReplaced, knownItems } from '../../core/plan/known-items.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { planChanges } from '../../core/run/amend/plan-changes.ts';
import { amendPlan } from '../../dsl/plan/amend-plan.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { CliError } from '../../host/cli-error.ts';
import type { Host } from '../../host/host-port.ts';
import type { LocalResults } from '../../ports/results.ts';
import { SHA256 } from '../../host/job/job-file.ts';

export type ReadStageRows = NonNullable<JobWorld['readStageRows']>;

/** Rows are taken into memory as one text. */
const ROWS_BYTES_MAX = 64 * 1024 * 1024;

export interface StagedRun {
  readonly host: Host;
  readonly runId: RunId;
  readonly plan: Plan;
  /** The job of the run with these rows; null when it has errors, which were printed. */
  readonly compile: (readStageRows: ReadStageRows) => Promise<Plan | null>;
  readonly by: string;
  readonly newId: () => string;
  /** For people. */
  say(text: string): void;
}

export class StagedRows {
  /** As the run has it. */
  plan: Plan;
  private readonly run: StagedRun;
  private isBusy = false;

  constructor(run: StagedRun) {
    this.run = run;
    this.plan = run.plan;
  }

  /** Takes up rows of ended stages that items wait for; a failure is reported, and retried with the next change. */
  changed(rows: readonly RunItemRow[]): void {
    if (this.isBusy || readyOf(this.plan, rows).length === 0) return;
    this.isBusy = true;
    this.take(rows)
      .catch((error: unknown) => {
        this.run.say(
          `Cannot take up new conversations: ${error instanceof Error ? error.message : String(error)}`,
        );
      })
      .finally(() => {
        this.isBusy = false;
      });
  }

  private async take(rows: readonly RunItemRow[]): Promise<void> {
    const { host, runId, compile, by, newId, say } = this.run;
    const planned = (await host.plan(runId)) ?? this.plan;
    const ready = readyOf(planned, rows);
    if (ready.length === 0) return;
    const made = await compile(
      await stageRows({ plan: planned, results: host.results, runId, also: ready.map(sourceOf) }),
    );
    const entries = new Set(ready.map(({ entry }) => entry));
    const known = made === null ? [] : made.items.filter(({ entry }) => entries.has(entry));
    if (made === null || known.some(isAwaiting)) {
      const keys = ready.map(({ key }) => key);
      say(`cancelled: ${keys.join(', ')}; no rows can be had from ${ready.map(sourceOf).join(', ')}`);
      return await host.tellRun(runId, { type: 'cancelRequested', requestId: newId(), by, keys });
    }
    const kept = planned.items.filter((item) => !ready.includes(item));
    const outcomes = new Map(rows.map(({ key, outcome }) => [key, outcome]));
    const job = { ...planned, items: [...kept, ...known] };
    const { plan } = amendPlan(planned, job, { outcomes, hasher: SHA256 });
    const changes = planChanges(planned, plan, { runId, userId: LOCAL_USER });
    const replaced = ready.map(({ index }) => index);
    const event = { type: 'planAmended', requestId: newId(), by, ...changes, retired: [], replaced } as const;
    await host.tellRun(runId, event, plan);
    this.plan = plan;
    for (const { key, entry, awaits } of ready) {
      const count = known.filter((item) => item.entry === entry).length;
      say(`${key}: ${counted(count, 'conversation')}, from the rows that ${awaits?.entry ?? ''} wrote`);
    }
  }
}

/** What awaits rows of a stage that has ended well, and has not been replaced. */
function readyOf(plan: Plan, rows: readonly RunItemRow[]): readonly PlanItem[] {
  if (!plan.items.some(isAwaiting)) return [];
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const hasSucceeded = ({ key }: PlanItem): boolean => {
    const row = byKey.get(key);
    return row?.phase === 'ended' && row.outcome === 'succeeded';
  };
  return plan.items.filter((item) => {
    const isOpen = isAwaiting(item) && byKey.get(item.key)?.phase === 'waiting';
    return isOpen && itemsOf(plan, sourceOf(item)).every(hasSucceeded);
  });
}

/** @throws CliError for a run that no process with its job stays beside */
export function refuseAwaiting(plan: Plan, doing: string, remedy: string): void {
  const awaiting = plan.items.find(isAwaiting);
  if (awaiting === undefined) return;
  const message = `Cannot ${doing}: "${awaiting.key}" is made from rows that ${sourceOf(awaiting)} writes`;
  throw new CliError(message, { remedy });
}

/** Items wait for rows, and this process has no job: said once, because nothing else would. */
export function awaitingWords(plan: Plan, rows: readonly RunItemRow[], resume: string): readonly string[] {
  return readyOf(plan, rows).map(
    (item) =>
      `${item.key} waits for the rows that ${sourceOf(item)} wrote: take them up with "${resume} FILE"`,
  );
}

/**
 * Reads rows of stages from the results of a run: of those whose rows were taken up before, and of those that `also`
 * names; all others are pending, so that a job without a change gives the plan that the run has.
 */
export async function stageRows({
  plan,
  results,
  runId,
  also = [],
}: {
  readonly plan: Plan;
  readonly results: LocalResults;
  readonly runId: RunId;
  readonly also?: readonly string[];
}): Promise<ReadStageRows> {
  const isRead = (entry: string): boolean => also.includes(entry) || wasTakenUp(plan, entry);
  // A job reads its rows while it is compiled, which is synchronous.
  const folders = knownItems(plan).flatMap(({ key, entry }) => (isRead(entry) ? [`${key}/files/`] : []));
  if (folders.length > 0)
    await results.fetch(runId, (name) => folders.some((folder) => name.startsWith(folder)));
  return (entry, file) => {
    if (!isRead(entry)) return 'pending';
    const texts = itemsOf(plan, entry).flatMap(
      ({ key }) => textOf(path.join(results.folder(runId), key, 'files'), file) ?? [],
    );
    return texts.length === 0 ? { problem: 'missing' } : { chunks: texts };
  };
}

function wasTakenUp(plan: Plan, source: string): boolean {
  return plan.items.some((item) => sourceOf(item) === source && isReplaced(item, plan));
}

function itemsOf(plan: Plan, entry: string): readonly PlanItem[] {
  return knownItems(plan).filter((item) => item.entry === entry);
}

function sourceOf({ awaits }: PlanItem): string {
  return awaits?.entry ?? '';
}

/** With an end of the last line; null for what is not there, is no file below the folder, or is too large. */
function textOf(folder: string, name: string): string | null {
  const file = path.resolve(folder, name);
  if (!file.startsWith(folder + path.sep)) return null;
  try {
    if (statSync(file).size > ROWS_BYTES_MAX) return null;
    const text = readFileSync(file, 'utf8');
    return text === '' || text.endsWith('\n') ? text : `${text}\n`;
  } catch {
    return null;
  }
}
