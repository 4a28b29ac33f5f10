/**
 * A run that has ended, in a real store with real results, for tests of reconciliation and reports.
 * Owns its defaults; a test names only what it is about.
 */
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { reconcileNow } from '../../activities/reconcile-run.ts';
import type { World } from '../../activities/world.ts';
import { instantWorld } from '../../bench/instant-world.ts';
import { runId, type ConversationId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { Plan, PlanItem, PlanReconcile } from '../../core/plan/plan.ts';
import type { ReconciliationSummary, RunItemRow, RunRow } from '../../core/machine/projection.ts';
import type { GatewayRow, SpendRow } from '../../core/money/spend.ts';
import { createGatewayExport } from '../../clients/gateway/gateway-export.ts';
import type { GatewayExport } from '../../ports/gateway-export.ts';
import { openStore } from '../../store/open-store.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import * as made from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';

export const RUN = runId('first-batch-1');
export const START = Date.UTC(2026, 10, 21, 4, 30);
export const NOW = START + 600_000;

export const RECONCILE: PlanReconcile = {
  rows: { from: 'gateway' },
  settleMs: 0,
  windowBeforeMs: 30_000,
  windowAfterMs: 300_000,
  ambiguous: 'keep',
  unmatchedNanoUsdMax: null,
};

export interface RunUnderTest {
  readonly world: World;
  readonly folder: string;
  conversation(key: string, attempt?: number): ConversationId;
  /** One call of a conversation as our proxy recorded it. */
  spent(call: Partial<SpendRow> & Pick<SpendRow, 'callId'>): Promise<void>;
  resultText(name: string): Promise<string>;
}

export interface RunShape {
  readonly plan?: Partial<Plan>;
  readonly run?: Partial<RunRow>;
  readonly items?: readonly Partial<RunItemRow>[];
  readonly export?: Partial<GatewayExport>;
  readonly forwardsHeaders?: boolean;
  /** For those that wait. */
  readonly clock?: World['clock'];
}

function neverWaited(): never {
  throw new Error('nothing is waited for here');
}

/** Two conversations that both succeeded, unless the shape says otherwise. */
export async function runUnderTest(shape: RunShape = {}): Promise<RunUnderTest> {
  const folder = tempDir();
  const store = await openStore({ kind: 'sqlite', path: path.join(folder, 'parley.db') });
  onTestFinished(() => store.close());
  const clock = shape.clock ?? { now: () => NOW, steady: () => NOW, setTimer: neverWaited };
  const bare = instantWorld({ store, clock, notifier: { deliver: () => Promise.resolve() } });
  const world: World = {
    ...bare,
    results: createResultsDirectory(path.join(folder, 'out')),
    gatewayExport: { ...createGatewayExport(null), ...shape.export },
    deployment: { ...bare.deployment, forwardsHeaders: shape.forwardsHeaders ?? false },
  };
  const conversation = (key: string, attempt = 1) =>
    world.keys.conversationIdOf({ runId: RUN, key, attempt });
  const items = shape.items ?? [{ key: 'a' }, { key: 'b' }];
  await store.plans.putPlan(
    RUN,
    planOf(
      items.map(({ key }) => key ?? 'a'),
      shape.plan,
    ),
  );
  await store.records.project([
    runRow(items.length, shape.run),
    ...items.map((item) => itemRow(item, conversation)),
  ]);
  return {
    world,
    folder,
    conversation,
    spent: (call) =>
      store.spend.write([
        made.spendRow(call.callId, { startedAt: START + 1_000, endedAt: START + 2_000, ...call }),
      ]),
    resultText: async (name) =>
      Buffer.from((await world.results.read({ runId: RUN, key: null, name })) ?? []).toString('utf8'),
  };
}

function runRow(total: number, changes: Partial<RunRow> = {}): RunRow {
  const base = {
    runId: RUN,
    name: 'first-batch',
    planHash: 'c0ffee',
    phase: 'reporting',
    total,
    inFlight: 0,
  } as const;
  return made.runRow({ ...base, ended: { succeeded: total }, spentNanoUsd: 0, createdAt: START, ...changes });
}

function itemRow(
  item: Partial<RunItemRow>,
  conversation: (key: string, attempt: number) => ConversationId,
): RunItemRow {
  const { key = 'a', attempt = 1 } = item;
  return made.runItemRow(key, {
    runId: RUN,
    phase: 'ended',
    outcome: 'succeeded',
    executionStatus: 'FINISHED',
    sandboxId: made.sandboxNumber(1),
    admittedAt: START,
    endedAt: START + 65_000,
    ...item,
    attempt,
    conversationId: attempt === 0 ? null : conversation(key, attempt),
  });
}

function planOf(keys: readonly string[], changes: Partial<Plan> = {}): Plan {
  const items = keys.map((key, index) => ({
    key,
    entry: key,
    index,
    model: 'coder',
    prompt: `Do ${key}.`,
    verify: null,
    matrix: {},
    tags: { team: 'blue' },
  }));
  return {
    ...made.plan('c0ffee'),
    description: null,
    labels: {},
    items: items as unknown as readonly PlanItem[],
    collect: [{ kind: 'trajectory' }, { kind: 'usage' }],
    tolerate: { failed: 0 },
    reconcile: RECONCILE,
    report: [],
    ...changes,
  };
}

export function gatewayRow(position: number, changes: Partial<GatewayRow> = {}): GatewayRow {
  return {
    responseId: `chatcmpl-${position}`,
    startedAt: START + 1_000,
    endedAt: START + 2_000,
    model: 'openai/small',
    sessionId: null,
    tags: [],
    keyName: 'name-of-a-key',
    promptTokens: 12,
    completionTokens: 34,
    cost: nanoUsd(1_234_567),
    metadataSessionId: null,
    position,
    ...changes,
  };
}

/** What the run keeps of a reconciliation; `rowsFile` is a saved export instead of where the job says. */
export async function summaryNow(
  world: World,
  run: typeof RUN,
  rowsFile?: string,
): Promise<ReconciliationSummary> {
  return (await reconcileNow(world, run, rowsFile === undefined ? {} : { rowsFile })).summary;
}

export const rowsOf = (rows: readonly GatewayRow[]): Partial<GatewayExport> => ({
  rows: () => Promise.resolve(rows),
});
