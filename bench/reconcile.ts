/**
 * How long a million rows take to be read and joined with ten thousand conversations, and in how much memory.
 * Owns the made-up export; beside it stands the bare reading of the same lines. Figures are printed, never asserted.
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { conversationId } from '../core/ids.ts';
import { formatUsd } from '../core/money.ts';
import { Reconciler } from '../core/reconcile.ts';
import type { ReconcileConversation } from '../core/reconcile-result.ts';
import type { SpendRow } from '../core/spend.ts';
import { streamExportFile } from '../gateway-client/export-file.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const CONVERSATIONS = Number(process.argv[3] ?? 10_000);
const START = Date.UTC(2026, 10, 21);
const GAP_MS = 20;
const SKEW_MS = 1_700;
/** Of a hundred rows: billed again, without their id, and of work that is none of these conversations. */
const TWICE = 1;
const STRIPPED = 5;
const STRANGE = 3;

const idOf = (owner: number) => conversationId(owner.toString(16).padStart(32, '0'));
const ownerOf = (call: number): number => call % CONVERSATIONS;
const startOf = (call: number): number => START + call * GAP_MS;

function callOf(call: number): SpendRow {
  return {
    callId: `call-${call}`,
    state: 'succeeded',
    startedAt: startOf(call),
    endedAt: startOf(call) + 900,
    route: '/v1/chat/completions',
    modelName: 'coder',
    upstreamModel: 'acme/coder-1',
    streamed: true,
    httpStatus: 200,
    responseId: `chatcmpl-${call.toString(16).padStart(24, '0')}`,
    sessionId: idOf(ownerOf(call)),
    user: `user-${ownerOf(call) % 50}`,
    keyName: 'agent',
    promptTokens: 2_000 + (call % 997),
    completionTokens: call % 311,
    cachedTokens: null,
    cost: null,
    costSource: 'unpriced',
    metadata: null,
  };
}

function* callLines(): Iterable<string> {
  for (let call = 0; call < ROWS; call += 1) yield `${JSON.stringify(callOf(call))}\n`;
}

function* rowLines(): Iterable<string> {
  for (let index = 0; index < ROWS; index += 1) {
    const kind = index % 100;
    const call = callOf(kind < TWICE ? index + TWICE : index);
    const isStrange = kind >= 100 - STRANGE;
    const hasNoId = isStrange || kind >= 100 - STRANGE - STRIPPED;
    const row = {
      request_id: hasNoId ? '' : call.responseId,
      startTime: new Date(call.startedAt + SKEW_MS).toISOString(),
      endTime: new Date(call.startedAt + SKEW_MS + 900).toISOString(),
      model_group: isStrange ? 'other/model' : call.upstreamModel,
      spend: ((index % 4_999) + 1) / 1e9,
      total_tokens: 2_000,
      prompt_tokens: call.promptTokens,
      completion_tokens: call.completionTokens,
      team_id: `team-${index % 12}`,
      request_tags: '[]',
      metadata: '{"spend_logs_metadata":null}',
    };
    yield `${JSON.stringify(row)}\n`;
  }
}

/** Windows an hour apart hold few candidates each: rows without an id are looked for by time. */
function conversations(): readonly ReconcileConversation[] {
  return Array.from({ length: CONVERSATIONS }, (_, owner) => ({
    conversationId: idOf(owner),
    key: `item-${owner}`,
    tags: { team: `t${owner % 7}`, nightly: owner % 2 === 0 ? 'yes' : 'no' },
    modelNames: ['coder', 'acme/coder-1'],
    windows: [{ startedAt: startOf(owner), endedAt: startOf(owner) + 900 }],
    endedAt: null,
    attemptIds: [],
  }));
}

async function* linesOf(file: string): AsyncIterable<string> {
  yield* createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ seconds: number; result: Result }> {
  const from = process.hrtime.bigint();
  const result = await work();
  return { seconds: Number(process.hrtime.bigint() - from) / 1e9, result };
}

async function bare(files: readonly string[]): Promise<number> {
  let count = 0;
  for (const file of files) {
    for await (const line of linesOf(file)) if (JSON.parse(line) !== null) count += 1;
  }
  return count;
}

async function joined(callFile: string, rowFile: string) {
  let verdicts = 0;
  const rules = {
    conversations: conversations(),
    isForwarding: false,
    windowBeforeMs: 1_000,
    windowAfterMs: 1_000,
    ambiguous: 'keep',
  } as const;
  const reconciler = new Reconciler(rules, () => (verdicts += 1));
  for await (const line of linesOf(callFile)) reconciler.addCall(JSON.parse(line) as SpendRow);
  for await (const row of streamExportFile(rowFile)) reconciler.addRow(row);
  return { sums: reconciler.finish(), verdicts };
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-bench-'));
try {
  const [callFile, rowFile] = [path.join(folder, 'calls.jsonl'), path.join(folder, 'rows.jsonl')];
  await pipeline(Readable.from(callLines()), createWriteStream(callFile));
  await pipeline(Readable.from(rowLines()), createWriteStream(rowFile));
  const bytes = statSync(callFile).size + statSync(rowFile).size;
  const { seconds: bareSeconds, result: lines } = await timed(() => bare([callFile, rowFile]));
  const rssBefore = process.resourceUsage().maxRSS;
  const { seconds, result } = await timed(() => joined(callFile, rowFile));
  const { counts, total, assigned, ambiguous, unassigned, clockSkewMs } = result.sums;
  const megabytes = (kilobytes: number): string => `${Math.round(kilobytes / 1_024)} MB`;
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  say(
    `${counts.rows} rows and ${ROWS} calls (${Math.round(bytes / 1e6)} MB), ${CONVERSATIONS} conversations`,
  );
  say(`reading the lines alone: ${bareSeconds.toFixed(1)} s for ${lines} lines`);
  say(
    `read and joined: ${seconds.toFixed(1)} s; largest resident memory ${megabytes(process.resourceUsage().maxRSS)}`,
  );
  say(`largest resident memory before: ${megabytes(rssBefore)}`);
  say(
    `total ${formatUsd(total)}, off by ${BigInt(total) - BigInt(assigned) - BigInt(ambiguous) - BigInt(unassigned)} nano-USD; ${JSON.stringify({ ...counts, clockSkewMs })}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
