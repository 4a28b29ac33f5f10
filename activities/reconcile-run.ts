/**
 * reconcileRun: joins what the gateway billed with the conversations of a run (D27).
 * Owns what is read and what is written; the joining itself is core/reconcile/reconcile.ts.
 */
import type { RunId } from '../core/ids.ts';
import { asParleyError, ParleyError } from '../core/parley-error.ts';
import type { Plan, PlanReconcile } from '../core/plan/plan.ts';
import type { ReconciliationSummary, RunRow } from '../core/machine/projection.ts';
import { isKept, type Expectation } from '../core/reconcile/reconcile-expectation.ts';
import type { ReconcileRules, ReconcileSums } from '../core/reconcile/reconcile-result.ts';
import { Reconciler } from '../core/reconcile/reconcile.ts';
import type { SpendLoss } from '../core/money/spend-loss.ts';
import type { Interval, ReconciliationHead } from '../core/reconcile/reconciliation-record.ts';
import { MINUTE_MS, SECOND_MS } from '../core/time.ts';
import type { ExportReading } from '../ports/gateway-export.ts';
import type { Handler } from './activity.ts';
import { planOf, presentPlanOf } from './plan-item.ts';
import { billedRows, readBill, type Bill } from './reconcile/billed-rows.ts';
import { CallsInFlight } from './reconcile/calls-in-flight.ts';
import { RecordLines, writeChunks, writeFailure } from './reconcile/reconciliation-record.ts';
import { RowSizes } from './reconcile/row-sizes.ts';
import { intervalOf, joinablePages, lostWithin } from './reconcile/run-calls.ts';
import { attemptsOf, reconcileConversations } from './reconcile/run-conversations.ts';
import type { World } from './world.ts';

/** For a job without a reconciliation whose user requests one. */
const UNASKED: PlanReconcile = {
  rows: { from: 'gateway' },
  settleMs: 0,
  windowBeforeMs: 30 * SECOND_MS,
  windowAfterMs: 5 * MINUTE_MS,
  ambiguous: 'keep',
  unmatchedNanoUsdMax: null,
};

export const reconcileRun = (world: World): Handler<'reconcileRun'> => ({
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

/** Replaces an older account, which would no longer fit the run: the report says why there is none. */
async function keepFailure(world: World, runId: RunId, error: unknown): Promise<void> {
  const { hash: planHash } = await presentPlanOf(world, runId);
  const { code, message } = asParleyError(error);
  await writeFailure(world, {
    format: 1,
    kind: 'failed',
    runId,
    planHash,
    failedAt: world.clock.now(),
    code,
    message,
  });
}

/** What a user requests beyond the job. */
export interface ReconcileRequest {
  /** A saved export instead of where the job says. */
  readonly rowsFile?: string;
  readonly reading?: ExportReading;
  /** A name of a model that the gateway bills → the name under which our proxy knows it. */
  readonly modelAliases?: Readonly<Record<string, string>>;
  /** Beside the job's own tolerance. */
  readonly expectations?: readonly Expectation[];
}

/** What a reconciliation found, before it is kept. */
export interface ReconcileAnswer {
  readonly summary: ReconciliationSummary;
  readonly sums: ReconcileSums;
  /** Spend rows that our side may lack, or got back late; null when no loss is known. */
  readonly lost: SpendLoss | null;
  /** One for each requested expectation, in their order. */
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
  const { head, sizes } = await account(world, { run, plan, rules, request });
  const measured = sizes.measured(head.result);
  const isEachKept = (request.expectations ?? []).map((expectation) => isKept(expectation, measured));
  const { summary, result: sums, spendLost: lost = null } = head;
  return { summary, sums, lost, isKept: isEachKept };
}

interface Question {
  readonly run: RunRow;
  readonly plan: Plan;
  readonly rules: PlanReconcile;
  readonly request: ReconcileRequest;
}

/** Reads the calls, then the rows, and writes the record meanwhile: neither is held whole in memory. */
async function account(
  world: World,
  question: Question,
): Promise<{ readonly head: ReconciliationHead; readonly sizes: RowSizes }> {
  const { run, plan, rules, request } = question;
  const now = world.clock.now();
  const interval = intervalOf(run, { ...rules, now });
  const items = await world.records.runItems(run.runId);
  const conversations = reconcileConversations(plan, attemptsOf(world, run.runId, items));
  const { lines, sizes } = { lines: new RecordLines(), sizes: new RowSizes() };
  // Read before our own calls: every billed call was recorded when it was sent.
  const bill = rules.rows.from === 'gateway' ? await readBill(world, interval) : null;
  const reconcileRules = rulesOf(world, question, { conversations, bill });
  const rows = begun(
    billedRows(world, {
      source: rules.rows,
      interval,
      bill,
      conversationIds: new Set(conversations.map(({ conversationId }) => conversationId)),
      ...(request.reading === undefined ? {} : { reading: request.reading }),
    }),
  );
  const reconciler = await withCalls(world, { interval, bill, rules: reconcileRules }, () => {
    return new Reconciler(reconcileRules, (verdict, row) => {
      lines.add(verdict, row);
      sizes.add(verdict);
    });
  }).catch(async (error: unknown) => {
    await rows.end();
    throw error;
  });
  const heads: ReconciliationHead[] = [];
  async function* chunks(): AsyncIterable<Uint8Array> {
    for await (const list of rows.all()) {
      for (const row of list) reconciler.addRow(row);
      yield* lines.take();
    }
    for (const _ of reconciler.settleWaiting()) yield* lines.take();
    const lost = await lostWithin(world, interval);
    const head = headOf(world, question, { now, interval, result: reconciler.finish(), sizes, lost });
    heads.push(head);
    lines.end(head);
    yield* lines.take();
  }
  await writeChunks(world, run.runId, chunks());
  const [head] = heads;
  if (head === undefined)
    throw new ParleyError('collect_failed', 'Cannot write reconciliation.json: its content was not taken');
  return { head, sizes };
}

/** Begins to read at once, so that a long export is read on its thread while calls are read here. */
function begun<Item>(items: AsyncIterable<Item>) {
  const iterator = items[Symbol.asyncIterator]();
  const first = iterator.next();
  // The caller gets the error when it iterates over `all`.
  first.catch(() => undefined);
  const end = async (): Promise<void> => void (await iterator.return?.());
  async function* all(): AsyncIterable<Item> {
    try {
      for (let next = await first; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await end();
    }
  }
  return { all, end };
}

/** All calls of the interval in a new reconciler; again from the beginning as long as one in flight may be on the bill. */
async function withCalls(
  world: World,
  { interval, bill, rules }: { interval: Interval; bill: Bill | null; rules: ReconcileRules },
  begin: () => Reconciler,
): Promise<Reconciler> {
  const knownName = (model: string): string => rules.modelAliases?.[model] ?? model;
  const inFlight = bill && new CallsInFlight(world.clock, bill, { ...rules, knownName });
  for (;;) {
    const reconciler = begin();
    for await (const page of joinablePages(world, interval))
      for (const call of page) {
        reconciler.addCall(call);
        inFlight?.see(call);
      }
    if (inFlight === null || !(await inFlight.waits())) return reconciler;
  }
}

function rulesOf(
  world: World,
  { rules, request: { modelAliases } }: Question,
  { conversations, bill }: { conversations: ReconcileRules['conversations']; bill: Bill | null },
): ReconcileRules {
  return {
    conversations,
    ...(bill === null ? {} : { billReadAt: bill.readAt }),
    // Rows of our own proxy name their conversation.
    isForwarding: world.deployment.forwardsHeaders || rules.rows.from === 'proxy',
    windowBeforeMs: rules.windowBeforeMs,
    windowAfterMs: rules.windowAfterMs,
    ambiguous: rules.ambiguous,
    ...(modelAliases === undefined ? {} : { modelAliases }),
  };
}

interface Accounted {
  readonly now: number;
  readonly interval: Interval;
  readonly result: ReconcileSums;
  readonly sizes: RowSizes;
  readonly lost: SpendLoss | null;
}

function headOf(
  world: World,
  { run, plan, rules }: Question,
  { now, interval, result, sizes, lost }: Accounted,
): ReconciliationHead {
  const { unmatchedNanoUsdMax, unbilledMax } = rules;
  return {
    format: 1,
    kind: 'done',
    runId: run.runId,
    planHash: plan.hash,
    reconciledAt: now,
    source: rules.rows,
    interval,
    isForwarding: world.deployment.forwardsHeaders,
    summary: summarise(result, sizes, rules),
    unmatchedNanoUsdMax,
    ...(unbilledMax === undefined ? {} : { unbilledMax }),
    otherCallersNanoUsd: sizes.otherCallers.written(),
    ...(lost === null ? {} : { spendLost: lost }),
    result,
  };
}

function summarise(result: ReconcileSums, sizes: RowSizes, rules: PlanReconcile): ReconciliationSummary {
  return {
    rows: result.counts.rows,
    totalNanoUsd: result.total,
    assignedNanoUsd: result.assigned,
    ambiguousNanoUsd: result.ambiguous,
    unassignedNanoUsd: result.unassigned,
    withinTolerance: isWithin(result, sizes, rules),
  };
}

/** Null when no bound is set: then nothing is within it either. */
function isWithin(
  { counts }: ReconcileSums,
  sizes: RowSizes,
  { unmatchedNanoUsdMax, unbilledMax }: PlanReconcile,
): boolean | null {
  if (unmatchedNanoUsdMax === null && unbilledMax === undefined) return null;
  const isMatched = unmatchedNanoUsdMax === null || sizes.unmatched.exact() <= BigInt(unmatchedNanoUsdMax);
  return isMatched && (unbilledMax === undefined || counts.unbilled <= unbilledMax);
}
