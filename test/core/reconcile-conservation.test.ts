/**
 * Conservation over random exports: duplicates, skewed clocks, late rows, aliases, splits, unpriced rows.
 * Whatever becomes of a row, its amount is in exactly one sum, and every list of the breakdown adds up.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversationId } from '../../core/ids.ts';
import { nanoUsd, toMicro } from '../../core/money/money.ts';
import { isKept, parseExpectation, type Measured } from '../../core/reconcile/reconcile-expectation.ts';
import { reconcile } from '../../core/reconcile/reconcile.ts';
import type { ReconcileGroup, Reconciliation } from '../../core/reconcile/reconcile-result.ts';
import type { GatewayRow, SpendRow } from '../../core/money/spend.ts';
import type { UsdSum } from '../../core/money/usd-sum.ts';
import { gatewayRow } from '../activities/reconcile-world.ts';
import { spendRow } from '../contract/store-rows.ts';

const HOUR = 3_600_000;
const id = (number: number) => conversationId(number.toString(16).padStart(32, '0'));

const CALL = fc.record({
  owner: fc.nat({ max: 7 }),
  startedAt: fc.nat({ max: HOUR }),
  cost: fc.oneof(fc.integer({ min: -1_000, max: 9_000_000_000 }), fc.maxSafeInteger()),
  tokens: fc.nat({ max: 100_000 }),
  model: fc.constantFrom('small', 'large'),
  fate: fc.constantFrom('billed', 'twice', 'late', 'stripped', 'unpriced', 'lost', 'alias'),
});
const WORLD = fc.record({
  calls: fc.array(CALL, { maxLength: 60 }),
  strays: fc.array(fc.record({ startedAt: fc.nat({ max: 2 * HOUR }), cost: fc.nat({ max: 1e9 }) }), {
    maxLength: 8,
  }),
  skewMs: fc.integer({ min: -HOUR, max: HOUR }),
  isForwarding: fc.boolean(),
  ambiguous: fc.constantFrom('keep' as const, 'split_by_tokens' as const),
});
type World = typeof WORLD extends fc.Arbitrary<infer Value> ? Value : never;

function spendRowsOf({ calls }: World): readonly SpendRow[] {
  return calls.map(({ owner, startedAt, tokens, model }, index) =>
    spendRow(`call-${index}`, {
      state: 'succeeded',
      responseId: `r-${index}`,
      // Owner 7 is a caller that is none of the conversations.
      sessionId: id(owner + 1),
      startedAt,
      endedAt: startedAt + 1_000,
      modelName: model,
      upstreamModel: `up/${model}`,
      promptTokens: tokens,
      user: `user-${owner % 3}`,
    }),
  );
}

function gatewayRowsOf({ calls, strays, skewMs }: World): readonly GatewayRow[] {
  const rows = calls.flatMap(({ startedAt, cost, model, fate, owner }, index) => {
    const row = gatewayRow(0, {
      responseId: fate === 'stripped' || fate === 'alias' ? null : `r-${index}`,
      startedAt: startedAt + skewMs + (fate === 'late' ? 2 * HOUR : 0),
      model: fate === 'alias' ? `vendor-${model}-2026` : `up/${model}`,
      sessionId: fate === 'stripped' ? id(owner + 1) : null,
      cost: nanoUsd(fate === 'unpriced' ? 0 : cost),
      team: `team-${owner % 2}`,
      ...(fate === 'unpriced' ? { isUnpriced: true } : {}),
    });
    if (fate === 'lost') return [];
    return fate === 'twice' ? [row, { ...row }] : [row];
  });
  const foreign = strays.map(({ startedAt, cost }) =>
    gatewayRow(0, { responseId: null, startedAt, model: 'foreign', cost: nanoUsd(cost) }),
  );
  return [...rows, ...foreign].map((row, index) => ({ ...row, position: index + 1 }));
}

function play(world: World): { readonly rows: readonly GatewayRow[]; readonly result: Reconciliation } {
  const rows = gatewayRowsOf(world);
  const result = reconcile({
    gatewayRows: rows,
    spendRows: spendRowsOf(world),
    conversations: Array.from({ length: 7 }, (_, owner) => ({
      conversationId: id(owner + 1),
      key: `k${owner}`,
      tags: { owner: `o${owner % 4}`, ...(owner % 2 === 0 ? { nightly: 'yes' } : {}) },
      endedAt: HOUR,
      attemptIds: [],
    })),
    isForwarding: world.isForwarding,
    windowBeforeMs: 1_000,
    windowAfterMs: 1_000,
    ambiguous: world.ambiguous,
    modelAliases: { 'vendor-small-2026': 'up/small', 'vendor-large-2026': 'up/large' },
  });
  return { rows, result };
}

const exact = (amounts: readonly UsdSum[]): bigint => amounts.reduce((sum, one) => sum + BigInt(one), 0n);

const sums = (groups: readonly ReconcileGroup[]): readonly (number | bigint)[] => [
  exact(groups.map((group) => group.assigned)),
  exact(groups.map((group) => group.ambiguous)),
  exact(groups.map((group) => group.unassigned)),
  groups.reduce((all, group) => all + group.rows, 0),
  groups.reduce((all, group) => all + group.unpriced, 0),
  groups.reduce((all, group) => all + group.unbilledCalls, 0),
];

describe('conservation over random exports', () => {
  it('every amount is in exactly one sum, to the micro-dollar and to the nano-dollar', () => {
    fc.assert(
      fc.property(WORLD, (world) => {
        const { rows, result } = play(world);
        const { total, assigned, ambiguous, unassigned } = result;
        expect(BigInt(total)).toBe(exact(rows.map(({ cost }) => cost)));
        expect(exact([assigned, ambiguous, unassigned])).toBe(BigInt(total));
        const { microUsd, remainderNanoUsd } = toMicro(total);
        expect(BigInt(microUsd) * 1_000n + BigInt(remainderNanoUsd)).toBe(BigInt(total));
        expect(exact(result.conversations.map((one) => one.assigned))).toBe(BigInt(assigned));
        expect(exact(result.conversations.map((one) => one.estimated))).toBe(BigInt(result.estimated));
      }),
      { numRuns: 300 },
    );
  });

  it('every list of the breakdown adds up in both directions', () => {
    fc.assert(
      fc.property(WORLD, (world) => {
        const { result } = play(world);
        const { counts, breakdown } = result;
        const whole = [
          BigInt(result.assigned),
          BigInt(result.ambiguous),
          BigInt(result.unassigned),
          counts.rows,
          counts.unpriced,
          counts.unbilled,
        ];
        const { byModel, byUser, byTeam, byTag } = breakdown;
        expect(Object.keys(byTag)).toEqual(['nightly', 'owner']);
        for (const groups of [byModel, byUser, byTeam, ...Object.values(byTag)])
          expect(sums(groups)).toEqual(whole);
      }),
    );
  });

  it('every row with its id goes to its caller, whatever the clocks say, and what is lost is named', () => {
    fc.assert(
      fc.property(WORLD, (world) => {
        const { result } = play(world);
        const count = (...fates: readonly string[]) =>
          world.calls.filter(({ fate, owner }) => owner < 7 && fates.includes(fate)).length;
        expect(result.counts.byResponseId).toBe(count('billed', 'late', 'unpriced') + 2 * count('twice'));
        // A credit takes back and bills nothing.
        const credits = (fate: string) =>
          world.calls.filter((call) => call.owner < 7 && call.fate === fate && call.cost < 0).length;
        const again = world.calls.filter(({ fate, cost }) => fate === 'twice' && cost >= 0).length;
        expect(result.counts.duplicates).toBeGreaterThanOrEqual(again);
        const unnamed =
          count('lost', 'stripped', 'alias') + credits('billed') + credits('late') + credits('twice');
        const { bySession, byWindow, unbilled } = result.counts;
        expect(unbilled).toBeLessThanOrEqual(unnamed);
        expect(unbilled).toBeGreaterThanOrEqual(unnamed - bySession - byWindow);
        expect(result.counts.unpriced).toBe(world.calls.filter(({ fate }) => fate === 'unpriced').length);
      }),
    );
  });
});

describe('lateness', () => {
  const late = (change: object, row: object = {}) =>
    reconcile({
      gatewayRows: [gatewayRow(1, { responseId: 'r', startedAt: 5_000, ...row })],
      spendRows: [spendRow('c', { responseId: 'r', sessionId: id(1), startedAt: 5_000, endedAt: 6_000 })],
      conversations: [
        {
          conversationId: id(1),
          key: null,
          tags: {},
          attemptIds: [],
          ...change,
        },
      ],
      isForwarding: true,
      windowBeforeMs: 0,
      windowAfterMs: 0,
      ambiguous: 'keep',
    }).verdicts[0];

  it('is judged by the end of the conversation, and without one by that of its last call', () => {
    expect(late({ endedAt: 5_000 })).toMatchObject({ isLate: false });
    expect(late({ endedAt: 4_999 })).toMatchObject({ isLate: true });
    expect(late({ endedAt: null })).toMatchObject({ isLate: false });
    expect(late({})).toMatchObject({ isLate: false });
    expect(late({}, { responseId: null, sessionId: id(1), startedAt: 6_001 })).toMatchObject({
      isLate: true,
    });
  });

  it('is judged by our clock where our proxy knows the call', () => {
    expect(late({ endedAt: 5_000 }, { startedAt: 9_000_000 })).toMatchObject({ isLate: false });
  });
});

describe('expectations', () => {
  const measured: Measured = {
    whole: 1_000n,
    unmatched: 10n,
    ambiguous: 4n,
    unassigned: 6n,
    unbilled: 2,
    unpriced: 0,
    duplicates: 1,
    late: 3,
  };

  it.each([
    ['unmatched<=1%', true],
    ['unmatched <= 0.999%', false],
    ['ambiguous<=0.000000004', true],
    ['ambiguous<=0.000000003', false],
    ['unassigned<=0.6%', true],
    ['unbilled<=1', false],
    ['unpriced<=0', true],
    ['duplicates<=1', true],
    ['late<=2', false],
  ])('%s: %s', (text, kept) => {
    const expectation = parseExpectation(text);
    expect(expectation === null ? null : isKept(expectation, measured)).toBe(kept);
  });

  it.each([
    '',
    'unmatched',
    'unmatched<1%',
    'unmatched<=-1%',
    'unbilled<=1%',
    'unbilled<=1.5',
    'spent<=1',
    'late<=x',
  ])('refuses "%s"', (text) => {
    expect(parseExpectation(text)).toBeNull();
  });

  it('of nothing at all is kept', () => {
    const nothing = { ...measured, whole: 0n, unmatched: 0n };
    const expectation = parseExpectation('unmatched<=0%');
    expect(expectation !== null && isKept(expectation, nothing)).toBe(true);
  });
});
