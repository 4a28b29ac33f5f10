/**
 * Gathers what a report says from the store and the run's results.
 * Owns the reading; what is said about it is decided by pure functions.
 */
import type { RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan } from '../../core/plan.ts';
import type { RunItemRow, RunRow } from '../../core/projection.ts';
import { planOf } from '../plan-item.ts';
import { openSecrets, redactText, secretForms } from '../redaction.ts';
import { bySession, callsWithin } from '../reconcile/run-calls.ts';
import { attemptsOf } from '../reconcile/run-conversations.ts';
import { readRecord } from '../reconcile/reconciliation-record.ts';
import type { World } from '../world.ts';
import { collectedFiles } from './collected-files.ts';
import { addSpend, NO_SPEND, ownSpend } from './own-spend.ts';
import type { OwnSpend, ReportData, ReportItem } from './report-data.ts';

/** @throws ParleyError not_found, plan_invalid */
export async function gatherReport(world: World, runId: RunId): Promise<ReportData> {
  const run = await world.records.run(runId);
  if (run === null)
    throw new ParleyError('not_found', `Cannot report on run "${runId}": there is no such run`);
  const plan = await planOf(world, runId);
  const rows = await world.records.runItems(runId);
  const spend = await spendByKey(world, run, rows);
  const items = await gatherItems(world, { runId, plan, rows, spend });
  return {
    run,
    description: plan.description,
    labels: plan.labels,
    toleratedFailures: plan.tolerate.failed,
    asksReconciliation: plan.reconcile !== null,
    items,
    spend: items.map((item) => item.spend).reduce(addSpend, NO_SPEND),
    reconciliation: await readRecord(world, runId),
    writtenAt: world.clock.now(),
  };
}

/** All attempts of an item together: a retry costs money too. */
async function spendByKey(
  world: World,
  run: RunRow,
  rows: readonly RunItemRow[],
): Promise<ReadonlyMap<string, OwnSpend>> {
  const now = world.clock.now();
  const sessions = bySession(await callsWithin(world, { from: run.createdAt, to: (run.endedAt ?? now) + 1 }));
  const spend = new Map<string, OwnSpend>();
  for (const { key, conversationId } of attemptsOf(world, run.runId, rows)) {
    const calls = sessions.get(conversationId) ?? [];
    spend.set(key, addSpend(spend.get(key) ?? NO_SPEND, ownSpend(calls)));
  }
  return spend;
}

interface Gathered {
  readonly runId: RunId;
  readonly plan: Plan;
  readonly rows: readonly RunItemRow[];
  readonly spend: ReadonlyMap<string, OwnSpend>;
}

async function gatherItems(
  world: World,
  { runId, plan, rows, spend }: Gathered,
): Promise<readonly ReportItem[]> {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const items: ReportItem[] = [];
  for (const { key, entry, model, matrix, tags } of plan.items) {
    const row = await redacted(world, byKey.get(key) ?? null);
    const files = row === null || row.attempt === 0 ? [] : await collectedFiles(world, { runId, key, plan });
    items.push({ row, key, entry, model, matrix, tags, spend: spend.get(key) ?? NO_SPEND, files });
  }
  return items;
}

/** A reason may quote what an agent or a tool said; a report is read by more people than a log (D20). */
async function redacted(world: World, row: RunItemRow | null): Promise<RunItemRow | null> {
  if (row === null || row.detail === null || row.conversationId === null) return row;
  const forms = secretForms(Object.values(await openSecrets(world, row.conversationId)));
  return { ...row, detail: redactText(row.detail, forms) };
}
