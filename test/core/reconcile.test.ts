/** Reconciliation: the order of D27, both directions, and the conservation of money to the nano-USD. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addUsd, nanoUsd, ZERO_USD } from '../../core/money/money.ts';
import type { ReconcileQuestion } from '../../core/reconcile/reconcile-result.ts';
import { splitExactly, CANDIDATES_MAX } from '../../core/reconcile/reconcile-verdict.ts';
import type { GatewayRow, SpendRow } from '../../core/money/spend.ts';
import { id, conversation, row, call, open, PAIRED, pair, ask, judged } from './reconcile-question.ts';
import { addSums } from '../../core/money/usd-sum.ts';

describe('the order of D27', () => {
  it('joins by response id whatever window and session say', () => {
    const gatewayRows = [row({ responseId: 'x', startedAt: 9e9, metadataSessionId: 'attempt-1' })];
    const spendRows = [call({ responseId: 'x', sessionId: id(2), startedAt: 9e9 })];
    const conversations = [conversation(1), conversation(2, { endedAt: 8e9 })];
    const { verdicts } = ask({ gatewayRows, spendRows, conversations, isForwarding: true });
    expect(verdicts).toMatchObject([
      { kind: 'assigned', by: 'response_id', conversationId: id(2), isLate: true },
    ]);
  });

  it('believes session and attempt ids only where forwarding is on', () => {
    const gatewayRows = [
      row({ metadataSessionId: 'attempt-2' }),
      row({ sessionId: '00000000-0000-0000-0000-000000000002' }),
    ];
    expect(judged(gatewayRows, { isForwarding: true })).toMatchObject([
      { by: 'session', conversationId: id(2) },
      { by: 'session', conversationId: id(2) },
    ]);
    // It is no proof, but it is against the conversation whose call it would be by its time.
    expect(judged(gatewayRows)).toMatchObject([{ why: 'no_candidate' }, { why: 'no_candidate' }]);
  });

  it('takes the only conversation of that model at that time, both ends of the window included', () => {
    const at = (startedAt: number) => judged([row({ startedAt })])[0]?.kind;
    expect([999, 1_000, 1_500, 1_501].map(at)).toEqual(['unassigned', 'assigned', 'assigned', 'unassigned']);
    expect(judged([row({ model: 'other' })])).toMatchObject([{ why: 'no_candidate' }]);
    const wide = judged([row({ startedAt: 990 })], { windowBeforeMs: 10 });
    expect(wide).toMatchObject([{ kind: 'assigned', by: 'window' }]);
  });

  it('does not look for a window when our own proxy knows the caller', () => {
    const spendRows = [open(1), call({ responseId: 'x', sessionId: null })];
    expect(ask({ gatewayRows: [row({ responseId: 'x' })], spendRows }).verdicts).toMatchObject([
      { kind: 'unassigned', why: 'other_caller' },
    ]);
  });

  it('keeps what is ambiguous, and splits it by tokens only when asked to', () => {
    const window = { startedAt: 0, endedAt: 9_000 };
    const spendRows = [
      open(1, { ...window, promptTokens: 2, completionTokens: 0 }),
      open(2, { ...window, promptTokens: 0 }),
    ];
    const question = { gatewayRows: [row()], spendRows };
    expect(ask(question)).toMatchObject({ ambiguous: 100, estimated: 0, assigned: 0 });
    const split = ask({ ...question, ambiguous: 'split_by_tokens' });
    expect(split).toMatchObject({ ambiguous: 100, estimated: 100, assigned: 0 });
    expect(split.conversations.map(({ estimated }) => estimated)).toEqual([67, 33, 0]);
  });

  it('never splits among more candidates than it lists', () => {
    const numbers = Array.from({ length: CANDIDATES_MAX + 1 }, (_, n) => n + 1);
    const { verdicts, estimated } = ask({
      gatewayRows: [row()],
      spendRows: numbers.map((number) => open(number, { startedAt: 0, endedAt: 9_000 })),
      conversations: numbers.map((number) => conversation(number)),
      ambiguous: 'split_by_tokens',
    });
    expect(verdicts).toMatchObject([{ kind: 'ambiguous', isTruncated: true, estimated: [] }]);
    expect(estimated).toBe(0);
  });
});

describe('evidence beats time (D35)', () => {
  const other = call({ callId: 'other', sessionId: 'f'.repeat(32), responseId: 'theirs', startedAt: 5_000 });

  it.each<[string, Partial<GatewayRow>, Partial<ReconcileQuestion>, object]>([
    ['an id of no call of ours', { responseId: 'strange' }, {}, { kind: 'unassigned', why: 'foreign' }],
    ['a session that is nobody’s', { sessionId: 'strange' }, {}, { kind: 'unassigned', why: 'foreign' }],
    ['an attempt that is nobody’s', { metadataSessionId: 'strange' }, {}, { why: 'foreign' }],
    ['a session of another conversation', { sessionId: id(2) }, {}, { why: 'no_candidate' }],
    [
      'sessions that contradict',
      { sessionId: id(1), metadataSessionId: 'attempt-2' },
      {},
      { why: 'foreign' },
    ],
    [
      'the session of its own conversation',
      { sessionId: id(1) },
      {},
      { by: 'window', conversationId: id(1) },
    ],
    [
      'a forwarded session of another caller',
      { sessionId: 'f'.repeat(32) },
      { isForwarding: true, spendRows: [open(1), PAIRED, other] },
      { kind: 'unassigned', why: 'other_caller' },
    ],
    ['a credit', { cost: nanoUsd(-5) }, {}, { kind: 'unassigned', why: 'no_candidate' }],
    ['other tokens', { promptTokens: 11 }, {}, { kind: 'unassigned', why: 'no_candidate' }],
    ['no tokens', { promptTokens: 0, completionTokens: 0 }, {}, { by: 'window' }],
    [
      'other tokens of a call that was cut',
      { promptTokens: 11 },
      { spendRows: [open(1, { state: 'cut' }), PAIRED] },
      { by: 'window' },
    ],
    [
      'other tokens where they are counted in two ways',
      { promptTokens: 11 },
      { spendRows: [open(1), { ...PAIRED, promptTokens: 99 }] },
      { by: 'window' },
    ],
    [
      'an open call of another caller at that time',
      {},
      { spendRows: [open(1), PAIRED, { ...other, startedAt: 1_000, endedAt: 1_200 }] },
      { kind: 'ambiguous', why: 'other_callers', candidates: [id(1)] },
    ],
    [
      'a call that was refused',
      {},
      { spendRows: [open(1, { state: 'failed', httpStatus: 429 }), PAIRED] },
      {
        why: 'no_candidate',
      },
    ],
    [
      'a call that another row bills',
      {},
      { spendRows: [{ ...PAIRED, startedAt: 1_100 }] },
      {
        why: 'no_candidate',
      },
    ],
  ])('%s', (_, change, question, expected) => {
    expect(judged([row(change)], question)).toMatchObject([expected]);
  });

  it('an id proves nothing where our proxy learns none, and neither does time', () => {
    const question = { gatewayRows: [row({ responseId: 'x' })], spendRows: [open(1)] };
    expect(ask(question).verdicts).toMatchObject([
      { kind: 'ambiguous', why: 'clock_unknown', candidates: [id(1)] },
    ]);
    expect(ask(question)).toMatchObject({ clockSkewMs: null, clocksMs: [], counts: { unbilled: 1 } });
  });

  it('a window with more rows than open calls has no certain row, and a repeat is flagged', () => {
    const rows = (count: number) => Array.from({ length: count }, () => row());
    expect(judged(rows(2))).toMatchObject([
      { kind: 'ambiguous', why: 'crowded', candidates: [id(1)], isDuplicate: false },
      { kind: 'ambiguous', why: 'crowded', candidates: [id(1)], isDuplicate: true },
    ]);
    const spendRows = [open(1), open(1, { callId: 'second' }), PAIRED];
    expect(judged(rows(2), { spendRows })).toMatchObject([
      { kind: 'assigned', isDuplicate: false },
      { kind: 'assigned', isDuplicate: false },
    ]);
  });

  it('rows elsewhere, and calls that only they fit, neither crowd a window nor make room in it', () => {
    // Two rows for the call from 1 s on; the call from 1.4 s on is of the same conversation and fits neither.
    const spendRows = [open(1), open(1, { callId: 'later', startedAt: 1_400, endedAt: 1_900 }), PAIRED];
    expect(judged([row({ startedAt: 1_001 }), row({ startedAt: 1_002 })], { spendRows })).toMatchObject([
      { why: 'crowded' },
      { why: 'crowded' },
    ]);
    expect(judged([row({ startedAt: 1_001 }), row({ startedAt: 1_450 })], { spendRows })).toMatchObject([
      { kind: 'assigned' },
      { kind: 'assigned' },
    ]);
  });

  it('two conversations that claim one response id are candidates, and so is another caller', () => {
    const claim = (sessionId: string | null) => call({ callId: `${sessionId}`, responseId: 'x', sessionId });
    const ofBoth = (...sessions: (string | null)[]) =>
      ask({ gatewayRows: [row({ responseId: 'x' })], spendRows: sessions.map(claim) }).verdicts[0];
    expect(ofBoth(id(1), id(2))).toMatchObject({ why: 'several', candidates: [id(1), id(2)] });
    expect(ofBoth(null, id(2))).toMatchObject({ why: 'other_callers', candidates: [id(2)] });
    expect(ofBoth(id(2), id(2))).toMatchObject({ kind: 'assigned', conversationId: id(2) });
  });
});

describe('a row joined by session', () => {
  const named = (change: Partial<GatewayRow> = {}) => row({ metadataSessionId: 'attempt-1', ...change });
  const byConversation = (gatewayRows: readonly GatewayRow[], spendRows: readonly SpendRow[]) =>
    ask({ gatewayRows: [...gatewayRows, pair()], spendRows: [...spendRows, PAIRED], isForwarding: true });

  it('closes its call: it is billed, and no candidate for other rows', () => {
    const result = byConversation([named(), row()], [open(1)]);
    expect(result.counts).toMatchObject({ bySession: 1, unbilled: 0, duplicates: 0 });
    expect(result.verdicts[1]).toMatchObject({ kind: 'unassigned', why: 'no_candidate' });
  });

  it('closes the call of its own tokens, then of its model and time', () => {
    const calls = [
      open(1, { callId: 'a', promptTokens: 5 }),
      open(1, { callId: 'b', promptTokens: 10, startedAt: 7_000 }),
      open(1, { callId: 'c', promptTokens: 10, modelName: 'big', upstreamModel: 'big' }),
      open(1, { callId: 'd', promptTokens: 10, startedAt: 1_050 }),
    ];
    expect(byConversation([named()], calls).unbilledCalls).toEqual(['a', 'b', 'c']);
    expect(byConversation([named({ model: 'big' })], calls).unbilledCalls).toEqual(['a', 'b', 'd']);
  });

  it('is flagged when no call is left for it', () => {
    const { counts, verdicts } = byConversation([named(), named(), named()], [open(1), open(1)]);
    expect(verdicts.map(({ isDuplicate }) => isDuplicate)).toEqual([false, false, true, false]);
    expect(counts).toMatchObject({ bySession: 3, duplicates: 1, unbilled: 0 });
    expect(byConversation([named({ cost: nanoUsd(-1) })], []).counts).toMatchObject({ duplicates: 0 });
  });

  it('does not close a call of another id, nor one for each time that an id comes', () => {
    const strange = named({ responseId: 'strange' });
    const known = byConversation([strange], [open(1, { responseId: 'known' })]);
    expect(known.counts).toMatchObject({ bySession: 1, duplicates: 1, unbilled: 1 });
    const twice = byConversation([strange, strange], [open(1), open(1)]);
    expect(twice.counts).toMatchObject({ bySession: 2, duplicates: 1, unbilled: 1 });
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
      counts: { duplicates: 1, unbilled: 1, conversationsWithoutRows: 2 },
    });
  });

  it('does not call a credit a second bill, whichever comes first', () => {
    const [bill, credit] = [row({ responseId: 'x' }), row({ responseId: 'x', cost: nanoUsd(-100) })];
    for (const gatewayRows of [
      [bill, credit],
      [credit, bill],
    ]) {
      expect(ask({ gatewayRows, spendRows: [call({ responseId: 'x' })] })).toMatchObject({
        assigned: 0,
        counts: { byResponseId: 2, duplicates: 0, unbilled: 0 },
      });
    }
  });

  it('shifts windows by the median skew of exactly matched pairs', () => {
    const skew = 3_600_000;
    const pairs = [skew - 5, skew, skew + 900_000];
    const gatewayRows = [
      ...pairs.map((ahead, n) => row({ responseId: `x${n}`, startedAt: 1_100 + ahead })),
      row({ startedAt: 2_100 + skew }),
    ];
    const spendRows = [...pairs.map((_, n) => call({ callId: `${n}`, responseId: `x${n}` })), open(2)];
    const result = ask({ gatewayRows, spendRows });
    expect(result.clockSkewMs).toBe(skew);
    expect(result.verdicts[3]).toMatchObject({ by: 'window', conversationId: id(2) });
  });

  it('looks at every clock of an export, and takes a row that fits under two for ambiguous', () => {
    const hour = 3_600_000;
    const spendRows = [
      PAIRED,
      call({ callId: 'q', responseId: 'q', sessionId: id(9), startedAt: 8e9 }),
      open(1),
      open(2, { startedAt: 1_000 + hour, endedAt: 1_500 + hour }),
    ];
    const gatewayRows = [pair(), row({ responseId: 'q', startedAt: 8e9 + hour })];
    const result = ask({ gatewayRows: [...gatewayRows, row({ startedAt: 1_100 + hour })], spendRows });
    expect(result.clocksMs).toEqual([0, hour]);
    expect(result.verdicts[2]).toMatchObject({ why: 'several', candidates: [id(1), id(2)] });
  });
});

const ROW = fc.record({
  responseId: fc.option(fc.constantFrom('a', 'b', 'c', 'unknown')),
  startedAt: fc.integer({ min: 0, max: 6_000 }),
  model: fc.constantFrom('gpt', 'openai/gpt', 'other'),
  metadataSessionId: fc.option(fc.constantFrom('attempt-1', 'attempt-2', 'stranger')),
  cost: fc.integer({ min: -1_000, max: 10_000_000_000 }).map(nanoUsd),
});
const CALL = fc.record({ from: fc.nat({ max: 5_000 }), length: fc.nat({ max: 5_000 }) });

describe('conservation', () => {
  it('assigned + ambiguous + unassigned = total, and every part adds up, to the nano-USD', () => {
    const question = fc.record({
      rows: fc.array(ROW, { maxLength: 40 }),
      lives: fc.array(CALL, { maxLength: 6 }),
      isForwarding: fc.boolean(),
      ambiguous: fc.constantFrom('keep', 'split_by_tokens'),
    });
    fc.assert(
      fc.property(question, ({ rows, lives, ...rest }) => {
        const conversations = lives.map((_, n) => conversation(n + 1));
        const open = lives.map(({ from, length }, n) =>
          call({ callId: `open-${n}`, sessionId: id(n + 1), startedAt: from, endedAt: from + length }),
        );
        const gatewayRows = rows.map((one, n) => row({ ...one, position: n + 1 }));
        const named = ['a', 'b', 'c'].map((responseId, n) => call({ responseId, sessionId: id(n + 1) }));
        const spendRows = [...named, ...open];
        const result = ask({ ...rest, gatewayRows, spendRows, conversations } as Partial<ReconcileQuestion>);
        expect(addSums(result.assigned, result.ambiguous, result.unassigned)).toBe(result.total);
        expect(result.total).toBe(gatewayRows.map(({ cost }) => cost).reduce(addUsd, ZERO_USD));
        expect(addSums(...result.conversations.map(({ assigned }) => assigned))).toBe(result.assigned);
        expect(addSums(...result.conversations.map(({ estimated }) => estimated))).toBe(result.estimated);
        expect(result.verdicts.map(({ position }) => position)).toEqual(gatewayRows.map((_, n) => n + 1));
      }),
    );
  });

  it('sums stay exact beyond what a number holds', () => {
    const cost = nanoUsd(Number.MAX_SAFE_INTEGER);
    const spendRows = [call({ responseId: 'x' })];
    const result = ask({ gatewayRows: [1, 2, 3].map(() => row({ responseId: 'x', cost })), spendRows });
    expect(result).toMatchObject({
      total: '27021597764222973',
      assigned: '27021597764222973',
      unassigned: 0,
    });
    expect(result.breakdown.byModel[0]?.assigned).toBe('27021597764222973');
    expect(result.conversations[0]?.assigned).toBe('27021597764222973');
  });

  it('finds by interval tree what a scan finds', () => {
    const instants = fc.array(fc.nat({ max: 6_000 }), { maxLength: 10 });
    fc.assert(
      fc.property(fc.array(CALL, { maxLength: 12 }), instants, (lives, starts) => {
        const spendRows = lives.map(({ from, length }, n) =>
          call({ callId: `${n}`, sessionId: id(n + 1), startedAt: from, endedAt: from + length }),
        );
        const conversations = lives.map((_, n) => conversation(n + 1));
        const gatewayRows = starts.map((startedAt) => row({ startedAt }));
        const { verdicts } = ask({ gatewayRows, spendRows, conversations });
        for (const [n, verdict] of verdicts.entries()) {
          const at = starts[n] ?? 0;
          const scan = spendRows.filter(
            ({ startedAt, endedAt }) => startedAt <= at && at <= (endedAt ?? Infinity),
          );
          const found = verdict.kind === 'ambiguous' ? verdict.candidates : [];
          expect(found).toEqual(scan.map(({ sessionId }) => sessionId));
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
