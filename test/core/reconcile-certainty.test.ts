/**
 * What model and time alone can say (D35): certain only while nothing else could have caused the row, else probable.
 * The property plays bills whose truth is known; no row that is called certain may be another's.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureAccuracy } from '../../bench/reconcile/accuracy.ts';
import { BILL_CASES } from '../../bench/reconcile/bill-cases.ts';
import { makeBill } from '../../bench/reconcile/made-bill.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { ReconcileQuestion } from '../../core/reconcile/reconcile-result.ts';
import type { GatewayRow, SpendRow } from '../../core/money/spend.ts';
import { ask, call, id, open, pair, PAIRED, row } from './reconcile-question.ts';

const CERTAIN = { kind: 'assigned', by: 'window', conversationId: id(1) };
const PROBABLE = { kind: 'ambiguous', why: 'time_alone', candidates: [id(1)], estimated: [] };

/** What becomes of a row at the time of an open call of conversation 1, beside other rows and calls. */
function judgedBeside(
  others: readonly Partial<GatewayRow>[],
  { own = {}, calls = [], ...change }: Partial<ReconcileQuestion> & Beside = {},
) {
  return ask({
    gatewayRows: [row(own), ...others.map((other) => row(other)), pair()],
    spendRows: [open(1), PAIRED, ...calls],
    ambiguous: 'split_by_tokens',
    ...change,
  }).verdicts[0];
}

interface Beside {
  readonly own?: Partial<GatewayRow>;
  readonly calls?: readonly SpendRow[];
}

const SILENT = { promptTokens: 0, completionTokens: 0 };
const STRANGER = { responseId: 'theirs', startedAt: 5e9, promptTokens: 70, completionTokens: 7 };
/** Billed by its id, of another conversation, long after. */
const billed = (change: Partial<SpendRow> = {}) =>
  call({ callId: 'billed', responseId: 'billed', sessionId: id(2), startedAt: 5e9, ...change });

describe('a row that fits one conversation by model and time', () => {
  it('is its while nothing in the bill is another’s', () => {
    expect(judgedBeside([], { own: SILENT })).toMatchObject(CERTAIN);
    const again = { responseId: 'billed', startedAt: 5e9 };
    expect(judgedBeside([again], { own: SILENT, calls: [billed()] })).toMatchObject(CERTAIN);
  });

  it.each<[string, readonly Partial<GatewayRow>[]]>([
    ['a row with an id of nobody’s', [STRANGER]],
    ['a row that fits no call', [{ startedAt: 5e9, ...SILENT }]],
    ['a row of another model that fits no call', [{ model: 'acme/other', ...SILENT }]],
    ['windows with more rows than calls', [{ startedAt: 2_100 }, { startedAt: 2_200 }]],
    ['a call that was billed again', [{ responseId: 'paired', startedAt: 9e9 }]],
  ])('is only probably its beside %s', (_, others) => {
    expect(judgedBeside(others, { own: SILENT, calls: [open(2)] })).toMatchObject(PROBABLE);
  });

  it('is only probably its where rows came late, by nobody knows how much', () => {
    const numbers = Array.from({ length: 1_100 }, (_, number) => `p${number}`);
    const calls = numbers.map((responseId) => billed({ callId: responseId, responseId }));
    const lateBy = (lateMs: number) =>
      numbers.map((responseId, at) => ({ responseId, startedAt: 5e9 + (at === 0 ? lateMs : 0) }));
    expect(judgedBeside(lateBy(0), { own: SILENT, calls })).toMatchObject(CERTAIN);
    expect(judgedBeside(lateBy(9e6), { own: SILENT, calls })).toMatchObject(PROBABLE);
  });

  it('may bill a call of another conversation again that fits as well', () => {
    const twin = billed({ startedAt: 1_050, promptTokens: 500 });
    const bill = { responseId: 'billed', promptTokens: 500 };
    expect(judgedBeside([bill], { own: SILENT, calls: [twin] })).toMatchObject(PROBABLE);
    // Its tokens are those of the one call and not of the other.
    expect(judgedBeside([bill], { calls: [twin] })).toMatchObject(CERTAIN);
    const same = { ...twin, promptTokens: 10 };
    expect(judgedBeside([{ responseId: 'billed' }], { calls: [same] })).toMatchObject(PROBABLE);
    const own = { ...same, sessionId: id(1) };
    expect(judgedBeside([{ responseId: 'billed' }], { calls: [own] })).toMatchObject(CERTAIN);
  });
});

describe('beside rows of others, tokens tell', () => {
  const PAIRED_77 = { ...PAIRED, promptTokens: 77 };
  const beside = (others: readonly Partial<GatewayRow>[], calls: readonly SpendRow[] = []) =>
    ask({
      gatewayRows: [row(), ...others.map((other) => row(other)), { ...pair(), promptTokens: 77 }],
      spendRows: [open(1), PAIRED_77, ...calls],
    }).verdicts[0];

  it('as long as nobody else has the same', () => {
    expect(beside([STRANGER])).toMatchObject(CERTAIN);
    expect(beside([{ ...STRANGER, promptTokens: 10, completionTokens: 1 }])).toMatchObject(PROBABLE);
    expect(beside([{ startedAt: 5e9 }])).toMatchObject(PROBABLE);
  });

  it('as long as no call of another conversation has them, at whatever time', () => {
    const bill = { responseId: 'billed', startedAt: 5e9 };
    expect(beside([STRANGER, bill], [billed()])).toMatchObject(PROBABLE);
    expect(beside([STRANGER, bill], [billed({ sessionId: id(1) })])).toMatchObject(CERTAIN);
    expect(beside([STRANGER], [open(2)])).toMatchObject(PROBABLE);
  });

  it('only of a call that says its own', () => {
    const cut = ask({
      gatewayRows: [row(), row(STRANGER), { ...pair(), promptTokens: 77 }],
      spendRows: [open(1, { state: 'cut' }), PAIRED_77],
    });
    expect(cut.verdicts[0]).toMatchObject(PROBABLE);
    // No call is certain to have caused it.
    expect(cut).toMatchObject({ assigned: 100, ambiguous: 100, counts: { byWindow: 0 } });
  });

  it('and so does the name of the conversation, proof or not', () => {
    expect(judgedBeside([STRANGER], { own: { ...SILENT, sessionId: id(1) } })).toMatchObject(CERTAIN);
  });
});

const SHARE = fc.constantFrom(0, 0.02, 0.1, 0.3);
const MINUTE = 60_000;
const BILL = fc.record({
  seed: fc.nat(),
  calls: fc.constantFrom(5, 20, 60),
  conversations: fc.constantFrom(2, 5, 20),
  spanMs: fc.constantFrom(MINUTE, 10 * MINUTE, 600 * MINUTE, 14_400 * MINUTE),
  skewsMs: fc.constantFrom([0], [90_000], [3_600_000], [-90_000], [0, 3_600_000]),
  hasTokens: fc.boolean(),
  troubles: fc.record({
    repeats: SHARE,
    strangers: SHARE,
    lostIds: SHARE,
    lostRows: SHARE,
    credits: SHARE,
    cut: SHARE,
    alike: SHARE,
  }),
});

describe('bills whose truth is known', () => {
  it('have no row that is called certain and is another’s', () => {
    let byTime = 0;
    fc.assert(
      fc.property(BILL, (shape) => {
        const measured = measureAccuracy(makeBill(shape));
        expect(measured).toMatchObject({ wrong: 0, offBy: 0n });
        byTime += measured.byTime;
      }),
      { seed: 26, numRuns: 1_500 },
    );
    // It is not right by never being certain.
    expect(byTime).toBeGreaterThan(500);
  });

  it.each(BILL_CASES.map((one) => [one.name, one] as const))('of 10,000 rows: %s', (_, { shape }) => {
    const { certain, wrong, ours, offBy } = measureAccuracy(makeBill(shape));
    expect({ wrong, offBy }).toEqual({ wrong: 0, offBy: 0n });
    expect((certain - wrong) / ours).toBeGreaterThanOrEqual(0.94);
  });

  it('are found wrong when a certain row is moved to another conversation', () => {
    const [first] = BILL_CASES;
    if (first === undefined) throw new Error('there is no case');
    const bill = makeBill({ ...first.shape, calls: 50 });
    const moved = bill.truth.map((owner) => (owner === null ? null : id(999)));
    const { wrong, certain } = measureAccuracy({ ...bill, truth: moved });
    expect(wrong).toBe(certain);
    const dearer = bill.rows.map((one) => ({ ...one, cost: nanoUsd(one.cost + 1) }));
    expect(measureAccuracy({ ...bill, rows: dearer }).offBy).toBe(0n);
  });
});
