/**
 * reconcileRun: joins what the gateway billed with the conversations of a run (D27).
 * Owns what is read and what is written; the joining itself is core/reconcile.ts.
 */
import type { RunId } from '../core/ids.ts';
import { nanoUsd, type NanoUsd } from '../core/money.ts';
import { asParleyError, ParleyError } from '../core/parley-error.ts';
import type { Plan, PlanReconcile } from '../core/plan.ts';
import type { ReconciliationSummary, RunRow } from '../core/projection.ts';
import type { Reconciliation, RowVerdict } from '../core/reconcile-result.ts';
import { reconcile } from '../core/reconcile.ts';
import { MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { BRIEF, type Activity } from './activity.ts';
import { planOf } from './plan-item.ts';
import { billedRows } from './reconcile/billed-rows.ts';
import { recordRows, writeRecord, type ReconciliationDone } from './reconcile/reconciliation-record.ts';
import { bySession, callsWithin, intervalOf } from './reconcile/run-calls.ts';
import { attemptsOf, reconcileConversations } from './reconcile/run-conversations.ts';
import type { World } from './world.ts';

/** For a job that asked for no reconciliation, when its user asks for one all the same. */
const UNASKED: PlanReconcile = {
  rows: { from: 'gateway' },
  settleMs: 0,
  windowBeforeMs: 30 * SECOND_MS,
  windowAfterMs: 5 * MINUTE_MS,
  ambiguous: 'keep',
  unmatchedNanoUsdMax: null,
};

export const reconcileRun = (world: World): Activity<'reconcileRun'> => ({
  type: 'reconcileRun',
  retry: BRIEF,
  run: async (command) => {
    try {
      const summary = await reconcileNow(world, command.runId, null);
      return { type: 'runReconciled', commandId: command.id, summary };
    } catch (error) {
      await keepFailure(world, command.runId, error).catch(() => undefined);
      throw error;
    }
  },
  failed: (command, error) => ({
    type: 'reconcileFailed',
    commandId: command.id,
    reason: `${error.code}: ${error.message}`,
  }),
});

/** An older account would no longer be about the run as it is now: the report says why there is none. */
async function keepFailure(world: World, runId: RunId, error: unknown): Promise<void> {
  const { hash: planHash } = await planOf(world, runId);
  const { code, message } = asParleyError(error);
  await writeRecord(world, {
    format: 1,
    kind: 'failed',
    runId,
    planHash,
    failedAt: world.clock.now(),
    code,
    message,
  });
}

/**
 * Reads rows from where the plan says, or from a file, and writes `reconciliation.json` into the run's results.
 * When it throws, nothing was written.
 * @throws ParleyError not_found, plan_invalid, export_unavailable, export_invalid
 */
export async function reconcileNow(
  world: World,
  runId: RunId,
  rowsFile: string | null,
): Promise<ReconciliationSummary> {
  const run = await world.records.run(runId);
  if (run === null)
    throw new ParleyError('not_found', `Cannot reconcile run "${runId}": there is no such run`);
  const plan = await planOf(world, runId);
  const asked = plan.reconcile ?? UNASKED;
  const rules = rowsFile === null ? asked : { ...asked, rows: { from: 'file', path: rowsFile } as const };
  const record = await account(world, { run, plan, rules });
  await writeRecord(world, record);
  return record.summary;
}

interface Question {
  readonly run: RunRow;
  readonly plan: Plan;
  readonly rules: PlanReconcile;
}

async function account(world: World, { run, plan, rules }: Question): Promise<ReconciliationDone> {
  const now = world.clock.now();
  const interval = intervalOf(run, { ...rules, now });
  const spendRows = await callsWithin(world, interval);
  const sessions = bySession(spendRows);
  const attempts = attemptsOf(world, run.runId, await world.records.runItems(run.runId));
  const ownCalls = attempts.flatMap(({ conversationId }) => sessions.get(conversationId) ?? []);
  const gatewayRows = await billedRows(world, { source: rules.rows, interval, ownCalls });
  const { verdicts, ...result } = reconcile({
    gatewayRows,
    spendRows,
    conversations: reconcileConversations({ plan, attempts, sessions, gatewayRows }),
    // Our own rows name their conversation by our own word.
    isForwarding: world.deployment.forwardsHeaders || rules.rows.from === 'proxy',
    windowBeforeMs: rules.windowBeforeMs,
    windowAfterMs: rules.windowAfterMs,
    ambiguous: rules.ambiguous,
  });
  const { unmatchedNanoUsdMax } = rules;
  return {
    format: 1,
    kind: 'done',
    runId: run.runId,
    planHash: plan.hash,
    reconciledAt: now,
    source: rules.rows,
    interval,
    isForwarding: world.deployment.forwardsHeaders,
    summary: summarise(result, verdicts, unmatchedNanoUsdMax),
    unmatchedNanoUsdMax,
    otherCallersNanoUsd: sumOf(verdicts, isOfOtherCaller),
    result,
    rows: recordRows(verdicts, gatewayRows),
  };
}

function summarise(
  result: Omit<Reconciliation, 'verdicts'>,
  verdicts: readonly RowVerdict[],
  unmatchedNanoUsdMax: number | null,
): ReconciliationSummary {
  return {
    rows: result.counts.rows,
    totalNanoUsd: result.total,
    assignedNanoUsd: result.assigned,
    ambiguousNanoUsd: result.ambiguous,
    unassignedNanoUsd: result.unassigned,
    withinTolerance: unmatchedNanoUsdMax === null || unmatched(verdicts) <= unmatchedNanoUsdMax,
  };
}

/** A credit does not make up for a charge that nobody can explain. */
function unmatched(verdicts: readonly RowVerdict[]): number {
  return verdicts.reduce((sum, verdict) => (isUnmatched(verdict) ? sum + Math.abs(verdict.cost) : sum), 0);
}

/** A call that our proxy sent for somebody else is matched: with somebody else. */
function isUnmatched(verdict: RowVerdict): boolean {
  return verdict.kind !== 'assigned' && !isOfOtherCaller(verdict);
}

function isOfOtherCaller(verdict: RowVerdict): boolean {
  return verdict.kind === 'unassigned' && verdict.why === 'other_caller';
}

function sumOf(verdicts: readonly RowVerdict[], isCounted: (verdict: RowVerdict) => boolean): NanoUsd {
  return nanoUsd(verdicts.reduce((sum, verdict) => (isCounted(verdict) ? sum + verdict.cost : sum), 0));
}
