/**
 * Gathers what a report says from the store and the run's results.
 * Owns the reading; what is said about it is decided by pure functions.
 */
import { collectOf } from '../../core/plan/item-rules.ts';
import type { RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan, CollectStep } from '../../core/plan/plan.ts';
import { type RunItemRow, unsuccessfulOf, type RunRow } from '../../core/machine/projection.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import { CHECK_LOG, lastLines } from '../check-log.ts';
import { readFindings, FINDINGS_FILE } from '../collect/findings.ts';
import { deliveryEvidence, problemOfDelivery } from '../collect/deliver.ts';
import { planOf } from '../plan-item.ts';
import { hiddenForms, openSecrets, redactText } from '../redaction.ts';
import { bySession, callsWithin, lostWithin } from '../reconcile/run-calls.ts';
import { attemptsOf } from '../reconcile/run-conversations.ts';
import { readRecord } from '../reconcile/reconciliation-record.ts';
import { judgedScores, SCORES_FILE } from '../score-file.ts';
import type { ReportWorld as World, ReportWorld } from './report-world.ts';
import { hasFailed } from '../../report/failure.ts';
import { addSpend, NO_SPEND, ownSpend } from '../../report/own-spend.ts';
import { itemTexts, type ItemTexts } from './item-texts.ts';
import { readLastSteps } from './last-steps.ts';
import { charactersShown } from '../../report/shown-text.ts';
import type {
  DeliveredItem,
  OwnSpend,
  ReportData,
  ReportItem,
  CollectedFile,
  LastRun,
} from '../../report/report-data.ts';

/** Whose prompt, answer, changes and check are read: of thousands of conversations that is most of the work. */
export type TextsOf = 'all' | 'failed';

/** @throws ParleyError not_found, plan_invalid */
export async function gatherReport(
  world: World,
  runId: RunId,
  textsOf: TextsOf = 'all',
): Promise<ReportData> {
  const run = await world.records.run(runId);
  if (run === null)
    throw new ParleyError('not_found', `Cannot report on run "${runId}": there is no such run`);
  const plan = await planOf(world, runId, run.planHash);
  const rows = await world.records.runItems(runId);
  const to = (run.endedAt ?? world.clock.now()) + 1;
  const calls = await callsWithin(world, { from: run.createdAt, to });
  const spend = spendByKey(world, { runId, rows, calls });
  const reconciliation = await readRecord(world, runId);
  const items = await gatherItems(world, { runId, plan, rows, spend, textsOf });
  return {
    run,
    last: await lastRun(world, run),
    description: plan.description,
    labels: plan.labels,
    toleratedFailures: plan.tolerate.failed,
    asksReconciliation: plan.reconcile !== null,
    items,
    spend: items.map((item) => item.spend).reduce(addSpend, NO_SPEND),
    spendLost: await lostWithin(world, { from: run.createdAt, to }),
    lastSteps: run.phase === 'closing' || run.phase === 'finished' ? await readLastSteps(world, runId) : [],
    reconciliation,
    exactSkewsMs: exactSkews(reconciliation, calls),
    consoleUrl: world.deployment?.consoleUrl ?? null,
    writtenAt: world.clock.now(),
  };
}

/** All attempts of an item together: a retry costs money too. */
function spendByKey(
  world: World,
  {
    runId,
    rows,
    calls: all,
  }: {
    readonly runId: RunId;
    readonly rows: readonly RunItemRow[];
    readonly calls: readonly SpendRow[];
  },
): ReadonlyMap<string, OwnSpend> {
  const sessions = bySession(all);
  const spend = new Map<string, OwnSpend>();
  for (const { key, conversationId } of attemptsOf(world, runId, rows)) {
    const calls = sessions.get(conversationId) ?? [];
    spend.set(key, addSpend(spend.get(key) ?? NO_SPEND, ownSpend(calls)));
  }
  return spend;
}

/** A response that is billed again pairs with its one call every time, which says as much of the clocks. */
function exactSkews(
  reconciliation: ReportData['reconciliation'],
  calls: readonly SpendRow[],
): readonly number[] {
  if (reconciliation?.kind !== 'done') return [];
  const begins = new Map(calls.map(({ responseId, startedAt }) => [responseId, startedAt]));
  return reconciliation.rows.flatMap((row) => {
    if (row.kind !== 'assigned' || row.by !== 'response_id' || row.responseId === null) return [];
    const began = begins.get(row.responseId);
    return began === undefined ? [] : [row.startedAt - began];
  });
}

interface Gathered {
  readonly runId: RunId;
  readonly plan: Plan;
  readonly rows: readonly RunItemRow[];
  readonly spend: ReadonlyMap<string, OwnSpend>;
  readonly textsOf: TextsOf;
}

const NO_TEXTS: ItemTexts = {
  prompt: { text: '', cut: 0 },
  ...{ answer: null, patch: null, checkCommand: null, checkOutput: null },
};

async function gatherItems(
  world: World,
  { runId, plan, rows, spend, textsOf }: Gathered,
): Promise<readonly ReportItem[]> {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const charactersMax = charactersShown(plan.items.length);
  const present = new Set(await world.results.names(runId, COLLECTED_FILES_MAX));
  const items: ReportItem[] = [];
  for (const item of plan.items) {
    const { key, entry, model, matrix, tags, whole } = item;
    const copy = whole === undefined ? {} : { whole };
    const named = item.agent === undefined ? {} : { agent: item.agent.name };
    const stored = byKey.get(key) ?? null;
    const forms = await formsOf(world, stored);
    const row = redacted(stored, forms);
    const hasBegun = row !== null && row.attempt > 0;
    const files = hasBegun ? collectedFiles({ key, steps: collectOf(item, plan) }, present) : [];
    const delivery = hasBegun && plan.deliver !== undefined ? await delivered(world, { runId, item }) : null;
    const findings = hasBegun ? await readFindings(world, { runId, key }) : [];
    const check = row?.outcome === 'check_failed' ? await checkLines(world, { runId, key }) : [];
    const scores = await judgedScores(world, runId, row);
    const isRead = textsOf === 'all' || hasFailed({ row });
    const texts = isRead ? await itemTexts(world, { runId, item, row, forms, charactersMax }) : NO_TEXTS;
    const spent = spend.get(key) ?? NO_SPEND;
    items.push({
      row,
      key,
      entry,
      model,
      matrix,
      tags,
      ...copy,
      ...named,
      spend: spent,
      files,
      findings,
      check,
      scores,
      delivery,
      ...texts,
    });
  }
  return items;
}

async function checkLines(
  world: World,
  { runId, key }: { readonly runId: RunId; readonly key: string },
): Promise<readonly string[]> {
  const log = await world.results.read({ runId, key, name: CHECK_LOG });
  return log === null ? [] : lastLines(new TextDecoder().decode(log));
}

/** The evidence that is beside its results. */
async function delivered(
  world: World,
  about: Parameters<typeof deliveryEvidence>[1],
): Promise<DeliveredItem | null> {
  const evidence = await deliveryEvidence(world, about);
  if (evidence === null) return null;
  const { state, repository, branch, commits, pullRequest } = evidence;
  const problem = problemOfDelivery(evidence);
  return {
    state,
    repository,
    branch,
    commit: commits.at(-1) ?? null,
    pullRequest: pullRequest?.url ?? null,
    problem: problem === null ? null : `${problem.code}: ${problem.message}`,
  };
}

/** What is hidden of an item: it may quote what an agent or a tool said, and a report is read by more people than a log (D20). */
async function formsOf(world: World, row: RunItemRow | null): Promise<readonly string[]> {
  if (row === null || row.conversationId === null) return [];
  return hiddenForms(Object.values(await openSecrets(world, row.conversationId)));
}

function redacted(row: RunItemRow | null, forms: readonly string[]): RunItemRow | null {
  return row === null || row.detail === null ? row : { ...row, detail: redactText(row.detail, forms) };
}

/** Literal names among the globs of one item; more of them are found in the folder. */
const NAMES_MAX = 50;

/** A run of ten thousand has some fifty thousand; what is beyond is collected and has no link. */
const COLLECTED_FILES_MAX = 1_000_000;

/** `present`: every file of the run, as a path below its folder. */
function collectedFiles(
  { key, steps }: { readonly key: string; readonly steps: readonly CollectStep[] },
  present: ReadonlySet<string>,
): readonly CollectedFile[] {
  return namesOf(steps)
    .filter((name) => present.has(`${key}/${name}`))
    .map((name) => ({ name, href: relativeLink(`${key}/${name}`) }));
}

function namesOf(steps: readonly CollectStep[]): readonly string[] {
  return [...new Set([...steps.flatMap(namesOfStep), CHECK_LOG, SCORES_FILE, FINDINGS_FILE])].slice(
    0,
    NAMES_MAX,
  );
}

function namesOfStep(step: CollectStep): readonly string[] {
  switch (step.kind) {
    case 'trajectory':
      return ['trajectory.zip'];
    case 'usage':
      return ['usage.json'];
    case 'diff':
      return ['changes.patch', 'base-commit.txt'];
    case 'files':
      return step.globs.filter((glob) => !/[*?[\]{}]/.test(glob)).map((name) => `files/${name}`);
  }
}

/** Every part encoded, so that no name ends a link or leaves the run's folder; parentheses would end one in Markdown. */
export function relativeLink(path: string): string {
  const encoded = path
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll(/[()'!*]/g, percentEncoded));
  return `./${encoded.join('/')}`;
}

const percentEncoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** Null for the first run of its job. */
async function lastRun({ records }: Pick<ReportWorld, 'records'>, run: RunRow): Promise<LastRun | null> {
  const [last] = (await records.runs())
    .filter((one) => isBefore(one, run))
    .toSorted((a, b) => b.createdAt - a.createdAt);
  if (last?.endedAt == null) return null;
  return {
    runId: last.runId,
    total: last.total,
    succeeded: last.total - unsuccessfulOf(last),
    spentNanoUsd: last.spentNanoUsd,
    durationMs: last.endedAt - last.createdAt,
  };
}

function isBefore(one: RunRow, run: RunRow): boolean {
  return (
    one.runId !== run.runId &&
    one.name === run.name &&
    one.userId === run.userId &&
    one.createdAt < run.createdAt &&
    one.endedAt !== null
  );
}
