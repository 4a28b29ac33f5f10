/** Reconciliation: the order of D27, both directions, and the conservation of money to the nano-USD. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversationId } from '../../core/ids.ts';
import { nanoUsd, sumUsd } from '../../core/money.ts';
import { CANDIDATES_MAX, reconcile } from '../../core/reconcile.ts';
import type { ReconcileConversation, ReconcileQuestion } from '../../core/reconcile-result.ts';
import { splitExactly } from '../../core/reconcile-split.ts';
import type { GatewayRow, SpendRow } from '../../core/spend.ts';

const id = (number: number) => conversationId(number.toString(16).padStart(32, '0'));
const conversation = (
  number: number,
  change: Partial<ReconcileConversation> = {},
): ReconcileConversation => ({
  conversationId: id(number),
  key: `k${number}`,
  tags: {},
  modelNames: ['gpt', 'openai/gpt'],
  windows: [{ startedAt: number * 1_000, endedAt: number * 1_000 + 500 }],
  attemptIds: [`attempt-${number}`],
  ...change,
});
const row = (change: Partial<GatewayRow> = {}): GatewayRow => ({
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
const call = (change: Partial<SpendRow> = {}): SpendRow => ({
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
const ask = (change: Partial<ReconcileQuestion>) =>
  reconcile({
    gatewayRows: [],
    spendRows: [],
    conversations: [conversation(1), conversation(2)],
    isForwarding: false,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    ...change,
  });

describe('the order of D27', () => {
  it('joins by response id whatever window and session say', () => {
    const gatewayRows = [row({ responseId: 'x', startedAt: 9e9, metadataSessionId: 'attempt-1' })];
    const spendRows = [call({ responseId: 'x', sessionId: id(2), startedAt: 9e9 })];
    const { verdicts } = ask({ gatewayRows, spendRows, isForwarding: true });
    expect(verdicts).toMatchObject([
      { kind: 'assigned', by: 'response_id', conversationId: id(2), isLate: true },
    ]);
  });

  it('believes session and attempt ids only where forwarding is on', () => {
    const gatewayRows = [
      row({ metadataSessionId: 'attempt-2' }),
      row({ sessionId: '00000000-0000-0000-0000-000000000002' }),
    ];
    expect(ask({ gatewayRows, isForwarding: true }).verdicts).toMatchObject([
      { by: 'session', conversationId: id(2) },
      { by: 'session', conversationId: id(2) },
    ]);
    expect(ask({ gatewayRows }).verdicts).toMatchObject([
      { by: 'window', conversationId: id(1) },
      { by: 'window', conversationId: id(1) },
    ]);
  });

  it('takes the only conversation of that model at that time, both ends of the window included', () => {
    const at = (startedAt: number) => ask({ gatewayRows: [row({ startedAt })] }).verdicts[0]?.kind;
    expect([999, 1_000, 1_500, 1_501].map(at)).toEqual(['unassigned', 'assigned', 'assigned', 'unassigned']);
    expect(ask({ gatewayRows: [row({ model: 'other' })] }).verdicts).toMatchObject([{ why: 'no_candidate' }]);
    const wide = ask({ gatewayRows: [row({ startedAt: 990 })], windowBeforeMs: 10 });
    expect(wide.verdicts).toMatchObject([{ kind: 'assigned', by: 'window' }]);
  });

  it('does not look for a window when our own proxy knows the caller', () => {
    const gatewayRows = [row({ responseId: 'x' })];
    const spendRows = [call({ responseId: 'x', sessionId: null })];
    expect(ask({ gatewayRows, spendRows }).verdicts).toMatchObject([
      { kind: 'unassigned', why: 'other_caller' },
    ]);
  });

  it('keeps what is ambiguous, and splits it by tokens only when asked to', () => {
    const windows = [{ startedAt: 0, endedAt: null }];
    const conversations = [conversation(1, { windows }), conversation(2, { windows })];
    const spendRows = [
      call({ promptTokens: 2, completionTokens: 0 }),
      call({ sessionId: id(2), promptTokens: 0 }),
    ];
    const question = { gatewayRows: [row()], spendRows, conversations };
    expect(ask(question)).toMatchObject({ ambiguous: 100, estimated: 0, assigned: 0 });
    const split = ask({ ...question, ambiguous: 'split_by_tokens' });
    expect(split).toMatchObject({ ambiguous: 100, estimated: 100, assigned: 0 });
    expect(split.conversations.map(({ estimated }) => estimated)).toEqual([67, 33]);
  });

  it('never splits among more candidates than it lists', () => {
    const windows = [{ startedAt: 0, endedAt: null }];
    const conversations = Array.from({ length: CANDIDATES_MAX + 1 }, (_, n) =>
      conversation(n + 1, { windows }),
    );
    const { verdicts, estimated } = ask({
      gatewayRows: [row()],
      conversations,
      ambiguous: 'split_by_tokens',
    });
    expect(verdicts).toMatchObject([{ kind: 'ambiguous', isTruncated: true, estimated: [] }]);
    expect(estimated).toBe(0);
  });
});

describe('what the report says besides', () => {
  it('names both directions and what was billed twice', () => {
    const gatewayRows = [row({ responseId: 'x' }), row({ responseId: 'x', position: 2 })];
    const spendRows = [call({ responseId: 'x' }), call({ callId: 'lost', responseId: 'y' })];
    const result = ask({ gatewayRows, spendRows });
    expect(result.verdicts.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true]);
    expect(result.unbilledCalls).toEqual(['lost']);
    expect(result).toMatchObject({
      assigned: 200,
      counts: { duplicates: 1, unbilled: 1, conversationsWithoutRows: 1 },
    });
  });

  it('shifts windows by the median skew of exactly matched pairs', () => {
    const skew = 3_600_000;
    const pairs = [skew - 5, skew, skew + 900_000];
    const gatewayRows = [
      ...pairs.map((ahead, n) => row({ responseId: `x${n}`, startedAt: 1_100 + ahead })),
      row({ startedAt: 2_100 + skew }),
    ];
    const spendRows = pairs.map((_, n) => call({ callId: `${n}`, responseId: `x${n}` }));
    const result = ask({ gatewayRows, spendRows });
    expect(result.clockSkewMs).toBe(skew);
    expect(result.verdicts[3]).toMatchObject({ by: 'window', conversationId: id(2) });
  });
});

const ROW = fc.record({
  responseId: fc.option(fc.constantFrom('a', 'b', 'c', 'unknown')),
  startedAt: fc.integer({ min: 0, max: 6_000 }),
  model: fc.constantFrom('gpt', 'openai/gpt', 'other'),
  metadataSessionId: fc.option(fc.constantFrom('attempt-1', 'attempt-2', 'stranger')),
  cost: fc.integer({ min: -1_000, max: 10_000_000_000 }).map(nanoUsd),
});
const CONVERSATION = fc.record({ from: fc.nat({ max: 5_000 }), length: fc.option(fc.nat({ max: 5_000 })) });

describe('conservation', () => {
  it('assigned + ambiguous + unassigned = total, and every part adds up, to the nano-USD', () => {
    const question = fc.record({
      rows: fc.array(ROW, { maxLength: 40 }),
      lives: fc.array(CONVERSATION, { maxLength: 6 }),
      isForwarding: fc.boolean(),
      ambiguous: fc.constantFrom('keep', 'split_by_tokens'),
    });
    fc.assert(
      fc.property(question, ({ rows, lives, ...rest }) => {
        const conversations = lives.map(({ from, length }, n) =>
          conversation(n + 1, {
            windows: [{ startedAt: from, endedAt: length === null ? null : from + length }],
          }),
        );
        const gatewayRows = rows.map((one, n) => row({ ...one, position: n + 1 }));
        const spendRows = ['a', 'b', 'c'].map((responseId, n) => call({ responseId, sessionId: id(n + 1) }));
        const result = ask({ ...rest, gatewayRows, spendRows, conversations } as Partial<ReconcileQuestion>);
        expect(result.assigned + result.ambiguous + result.unassigned).toBe(result.total);
        expect(result.total).toBe(sumUsd(gatewayRows.map(({ cost }) => cost)));
        expect(sumUsd(result.conversations.map(({ assigned }) => assigned))).toBe(result.assigned);
        expect(sumUsd(result.conversations.map(({ estimated }) => estimated))).toBe(result.estimated);
        expect(result.verdicts.map(({ position }) => position)).toEqual(gatewayRows.map((_, n) => n + 1));
      }),
    );
  });

  it('finds by interval tree what a scan finds', () => {
    const instants = fc.array(fc.nat({ max: 6_000 }), { maxLength: 10 });
    fc.assert(
      fc.property(fc.array(CONVERSATION, { maxLength: 12 }), instants, (lives, starts) => {
        const conversations = lives.map(({ from, length }, n) =>
          conversation(n + 1, {
            windows: [{ startedAt: from, endedAt: length === null ? null : from + length }],
          }),
        );
        const { verdicts } = ask({
          gatewayRows: starts.map((startedAt) => row({ startedAt })),
          conversations,
        });
        for (const [n, verdict] of verdicts.entries()) {
          const at = starts[n] ?? 0;
          const scan = conversations.filter(({ windows }) =>
            windows.some(({ startedAt, endedAt }) => startedAt <= at && at <= (endedAt ?? Infinity)),
          );
          const found =
            verdict.kind === 'ambiguous'
              ? verdict.candidates
              : verdict.kind === 'assigned'
                ? [verdict.conversationId]
                : [];
          expect(found).toEqual(scan.map(({ conversationId: one }) => one));
        }
      }),
    );
  });

  it('splits any amount by any weights without losing a nano-USD', () => {
    const weights = fc.array(fc.nat({ max: 1e12 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.maxSafeInteger(), weights, (amount, given) => {
        const parts = splitExactly(nanoUsd(amount), given);
        expect(parts.reduce((sum, part) => sum + BigInt(part), 0n)).toBe(BigInt(amount));
        const whole = given.reduce((sum, weight) => sum + BigInt(weight), 0n);
        if (whole === 0n) return;
        for (const [n, part] of parts.entries()) {
          const error = BigInt(part) * whole - BigInt(amount) * BigInt(given[n] ?? 0);
          expect(error < whole && -error < whole).toBe(true);
        }
      }),
    );
  });
});
