/**
 * Rows, calls and conversations for questions of reconciliation, each plain until a test says otherwise.
 * Owns the builders; what becomes of a row is for the tests to say.
 */
import { conversationId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { reconcile } from '../../core/reconcile/reconcile.ts';
import type { ReconcileConversation, ReconcileQuestion } from '../../core/reconcile/reconcile-result.ts';
import type { GatewayRow, SpendRow } from '../../core/money/spend.ts';

export const id = (number: number) => conversationId(number.toString(16).padStart(32, '0'));
export const conversation = (
  number: number,
  change: Partial<ReconcileConversation> = {},
): ReconcileConversation => ({
  conversationId: id(number),
  key: `k${number}`,
  tags: {},
  attemptIds: [`attempt-${number}`],
  ...change,
});
export const row = (change: Partial<GatewayRow> = {}): GatewayRow => ({
  responseId: null,
  startedAt: 1_100,
  endedAt: 1_200,
  model: 'openai/gpt',
  sessionId: null,
  tags: [],
  keyName: null,
  promptTokens: 10,
  completionTokens: 1,
  cost: nanoUsd(100),
  metadataSessionId: null,
  position: 1,
  ...change,
});
export const call = (change: Partial<SpendRow> = {}): SpendRow => ({
  callId: 'c',
  state: 'succeeded',
  startedAt: 1_100,
  endedAt: 1_200,
  route: '/v1/chat/completions',
  modelName: 'gpt',
  upstreamModel: 'openai/gpt',
  streamed: false,
  httpStatus: 200,
  responseId: null,
  sessionId: id(1),
  user: null,
  keyName: 'k',
  promptTokens: 10,
  completionTokens: 1,
  cachedTokens: null,
  cost: null,
  costSource: 'unpriced',
  metadata: null,
  ...change,
});
/** A call of a conversation that has no id yet, from its number in seconds on and half a second long. */
export const open = (number: number, change: Partial<SpendRow> = {}): SpendRow =>
  call({
    callId: `open-${number}`,
    sessionId: id(number),
    startedAt: number * 1_000,
    endedAt: number * 1_000 + 500,
    ...change,
  });
/** One exact pair of a conversation far away: it shows that the clocks agree, or by how much they differ. */
export const PAIRED = call({ callId: 'paired', responseId: 'paired', sessionId: id(9), startedAt: 9e9 });
export const pair = (aheadMs = 0) => row({ responseId: 'paired', startedAt: 9e9 + aheadMs, position: 0 });

export const ask = (change: Partial<ReconcileQuestion>) =>
  reconcile({
    gatewayRows: [],
    spendRows: [],
    conversations: [conversation(1), conversation(2), conversation(9)],
    isForwarding: false,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    ...change,
  });
/** What becomes of rows beside an exact pair, with an open call of conversation 1 and one of 2. */
export const judged = (gatewayRows: readonly GatewayRow[], change: Partial<ReconcileQuestion> = {}) =>
  ask({
    spendRows: [open(1), open(2), PAIRED],
    ...change,
    gatewayRows: [...gatewayRows, pair()],
  }).verdicts.slice(0, gatewayRows.length);
