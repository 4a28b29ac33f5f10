/**
 * A run that has ended, with as many calls and rows as are asked for, in a folder as a user has it: data directory,
 * configuration, and the export as a file beside it.
 * Owns the made-up calls and rows, each from its number; what becomes of them is measured elsewhere.
 */
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runId, sandboxId, type ConversationId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import { createKeyMinter } from '../../store/spend/key-minter.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { loadSealKey } from '../../store/access/seal-key.ts';

export const RUN = runId('big-bill');
export const EXPORT = 'rows.jsonl';

export interface BigRun {
  readonly rows: number;
  readonly conversations: number;
}

const START = Date.UTC(2026, 10, 21);
const GAP_MS = 20;
const CALL_MS = 900;
const SKEW_MS = 1_700;
/** Of a hundred rows: billed again, without their id, and of work that is none of these conversations. */
const TWICE = 1;
const STRIPPED = 5;
const STRANGE = 3;
const PAGE = 1_000;
const CONFIG = 'engine: { kind: embedded }\nstore: { path: .parley }\nresults: { path: out }\n';

/** `dir` is empty at first. Resolves with how many bytes the export has. */
export async function makeBigRun(dir: string, size: BigRun): Promise<void> {
  const dataDir = path.join(dir, '.parley');
  mkdirSync(dataDir);
  writeFileSync(path.join(dir, 'parley.yaml'), CONFIG);
  const store = await openStore({ kind: 'sqlite', path: path.join(dataDir, 'parley.db') });
  try {
    const keys = createKeyMinter(loadSealKey({ env: undefined, path: path.join(dataDir, 'seal.key') }));
    const ids = Array.from({ length: size.conversations }, (_, owner) =>
      keys.conversationIdOf({ runId: RUN, key: `item-${owner}`, attempt: 1 }),
    );
    await fillStore(store, ids, size);
  } finally {
    await store.close();
  }
  await pipeline(Readable.from(rowLines(size.rows)), createWriteStream(path.join(dir, EXPORT)));
}

async function fillStore(store: Store, ids: readonly ConversationId[], { rows }: BigRun): Promise<void> {
  await store.plans.putPlan(RUN, planOf(ids.length));
  await store.records.project([
    {
      table: 'run',
      runId: RUN,
      generation: 1,
      sequence: 1,
      name: 'big-bill',
      planHash: 'c0ffee',
      phase: 'finished',
      mode: 'normal',
      reason: null,
      total: ids.length,
      waiting: 0,
      inFlight: 0,
      ended: { succeeded: ids.length },
      spentNanoUsd: 0,
      createdAt: START,
      endedAt: endOf(rows),
      reconciliation: null,
    },
  ]);
  for (let from = 0; from < ids.length; from += PAGE) {
    await store.records.project(ids.slice(from, from + PAGE).map((id, at) => itemRow(from + at, id, rows)));
  }
  for (let from = 0; from < rows; from += PAGE) {
    const length = Math.min(PAGE, rows - from);
    await store.spend.write(Array.from({ length }, (_, at) => callOf(from + at, ids)));
  }
}

function planOf(conversations: number): Plan {
  const items = Array.from({ length: conversations }, (_, owner) => ({
    key: `item-${owner}`,
    tags: { team: `t${owner % 7}`, nightly: owner % 2 === 0 ? 'yes' : 'no' },
  }));
  return { format: 1, name: 'big-bill', hash: 'c0ffee', items, collect: [], report: [] } as unknown as Plan;
}

function itemRow(owner: number, id: ConversationId, rows: number): RunItemRow {
  return {
    table: 'run_item',
    runId: RUN,
    key: `item-${owner}`,
    generation: 1,
    sequence: 1,
    phase: 'ended',
    attempt: 1,
    conversationId: id,
    sandboxId: sandboxId(owner.toString(16).padStart(32, '0')),
    sandboxStatus: null,
    executionStatus: 'FINISHED',
    outcome: 'succeeded',
    failureClass: null,
    detail: null,
    costNanoUsd: null,
    admittedAt: START,
    endedAt: endOf(rows),
  };
}

const startOf = (call: number): number => START + call * GAP_MS;
const endOf = (rows: number): number => startOf(rows) + CALL_MS;
const responseOf = (call: number): string => `chatcmpl-${call.toString(16).padStart(24, '0')}`;
const promptOf = (call: number): number => 2_000 + (call % 997);
const completionOf = (call: number): number => call % 311;

function callOf(call: number, ids: readonly ConversationId[]): SpendRow {
  const owner = call % ids.length;
  return {
    callId: `call-${call}`,
    state: 'succeeded',
    startedAt: startOf(call),
    endedAt: startOf(call) + CALL_MS,
    route: '/v1/chat/completions',
    modelName: 'coder',
    upstreamModel: 'acme/coder-1',
    streamed: true,
    httpStatus: 200,
    responseId: responseOf(call),
    sessionId: ids[owner] ?? null,
    user: `user-${owner % 50}`,
    keyName: 'agent',
    promptTokens: promptOf(call),
    completionTokens: completionOf(call),
    cachedTokens: null,
    cost: null,
    costSource: 'unpriced',
    metadata: null,
  };
}

function* rowLines(rows: number): Iterable<string> {
  for (let index = 0; index < rows; index += 1) {
    const kind = index % 100;
    const call = kind < TWICE ? index + TWICE : index;
    const isStrange = kind >= 100 - STRANGE;
    const hasNoId = isStrange || kind >= 100 - STRANGE - STRIPPED;
    const startedAt = startOf(call) + SKEW_MS;
    const row = {
      request_id: hasNoId ? '' : responseOf(call),
      startTime: new Date(startedAt).toISOString(),
      endTime: new Date(startedAt + CALL_MS).toISOString(),
      model_group: isStrange ? 'other/model' : 'acme/coder-1',
      spend: ((index % 4_999) + 1) / 1e9,
      total_tokens: promptOf(call) + completionOf(call),
      prompt_tokens: promptOf(call),
      completion_tokens: completionOf(call),
      team_id: `team-${index % 12}`,
      request_tags: '[]',
      metadata: '{"spend_logs_metadata":null}',
    };
    yield `${JSON.stringify(row)}\n`;
  }
}
