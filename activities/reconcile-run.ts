/**
 * reconcileRun: joins what the gateway billed with the conversations of a run (D27).
 * Owns what is read and what is written; the joining itself is core/reconcile.ts.
 */
import type { RunId } from '../core/ids.ts';
import { nanoUsd, type NanoUsd } from '../core/money.ts';
import { asParleyError, ParleyError } from '../core/parley-error.ts';
import type { Plan, PlanReconcile } from '../core/plan.ts';
import type { ReconciliationSummary, RunRow } from '../core/projection.ts';
import { isKept, type Expectation, type Measured } from '../core/reconcile-expectation.ts';
import type { Reconciliation, ReconcileSums, RowVerdict } from '../core/reconcile-result.ts';
import { reconcile } from '../core/reconcile.ts';
import { MINUTE_MS, SECOND_MS } from '../core/time.ts';
import type { ExportReading } from '../ports/gateway-export.ts';
import { BRIEF, type Activity } from './activity.ts';
import { planOf, presentPlanOf } from './plan-item.ts';
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
      const { summary } = await reconcileNow(world, command.runId);
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
  const { hash: planHash } = await presentPlanOf(world, runId);
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

/** What a user asks beyond the job. */
export interface ReconcileRequest {
  /** A saved export instead of where the job says. */
  readonly rowsFile?: string;
  readonly reading?: ExportReading;
  /** A name of a model that the gateway bills → the name under which our proxy knows it. */
  readonly modelAliases?: Readonly<Record<string, string>>;
  /** Beside the job's own tolerance. */
  readonly expectations?: readonly Expectation[];
}

export interface ReconcileAnswer {
  readonly summary: ReconciliationSummary;
  readonly sums: ReconcileSums;
  /** One for each expectation that was asked, in their order. */
  readonly isKept: readonly boolean[];
}

/**
 * Reads rows from where the plan says, or from a file, and writes `reconciliation.json` into the run's results.
 * When it throws, nothing was written.
 * @throws ParleyError not_found, plan_invalid, export_unavailable, export_invalid
 */
export async function reconcileNow(
  world: World,
  runId: RunId,
  request: ReconcileRequest = {},
): Promise<ReconcileAnswer> {
  const run = await world.records.run(runId);
  if (run === null)
    throw new ParleyError('not_found', `Cannot reconcile run "${runId}": there is no such run`);
  const plan = await planOf(world, runId, run.planHash);
  const asked = plan.reconcile ?? UNASKED;
  const { rowsFile: path } = request;
  const rules = path === undefined ? asked : { ...asked, rows: { from: 'file', path } as const };
  const record = await account(world, { run, plan, rules, request });
  await writeRecord(world, record);
  const measured = measure(record);
  const isEachKept = (request.expectations ?? []).map((expectation) => isKept(expectation, measured));
  return { summary: record.summary, sums: record.result, isKept: isEachKept };
}

interface Question {
  readonly run: RunRow;
  readonly plan: Plan;
  readonly rules: PlanReconcile;
  readonly request: ReconcileRequest;
}

async function account(world: World, { run, plan, rules, request }: Question): Promise<ReconciliationDone> {
  const now = world.clock.now();
  const interval = intervalOf(run, { ...rules, now });
  const spendRows = await callsWithin(world, interval);
  const sessions = bySession(spendRows);
  const attempts = attemptsOf(world, run.runId, await world.records.runItems(run.runId));
  const { reading, modelAliases } = request;
  const ownCalls = attempts.flatMap(({ conversationId }) => sessions.get(conversationId) ?? []);
  const gatewayRows = await billedRows(world, {
    source: rules.rows,
    interval,
    ownCalls,
    ...(reading === undefined ? {} : { reading }),
  });
  const { verdicts, ...result } = reconcile({
    gatewayRows,
    spendRows,
    conversations: reconcileConversations({ plan, attempts, sessions, gatewayRows }),
    // Our own rows name their conversation by our own word.
    isForwarding: world.deployment.forwardsHeaders || rules.rows.from === 'proxy',
    windowBeforeMs: rules.windowBeforeMs,
    windowAfterMs: rules.windowAfterMs,
    ambiguous: rules.ambiguous,
    ...(modelAliases === undefined ? {} : { modelAliases }),
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
    withinTolerance: unmatchedNanoUsdMax === null ? null : unmatched(verdicts) <= unmatchedNanoUsdMax,
  };
}

/** A credit does not make up for a charge that nobody can explain. */
function unmatched(verdicts: readonly RowVerdict[]): number {
  return verdicts.reduce((sum, verdict) => (isUnmatched(verdict) ? sum + Math.abs(verdict.cost) : sum), 0);
}

/** What expectations are compared with; sizes, because a credit does not make up for a charge. */
function measure({ rows, result }: ReconciliationDone): Measured {
  const size = (isCounted: (verdict: RowVerdict) => boolean): number =>
    rows.reduce((sum, row) => (isCounted(row) ? sum + Math.abs(row.cost) : sum), 0);
  const { unbilled, unpriced, duplicates, late } = result.counts;
  return {
    whole: size(() => true),
    unmatched: size(isUnmatched),
    ambiguous: size(({ kind }) => kind === 'ambiguous'),
    unassigned: size(({ kind }) => kind === 'unassigned'),
    unbilled,
    unpriced,
    duplicates,
    late,
  };
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
