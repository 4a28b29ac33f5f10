/** What a run may spend and has spent, as the proxy asks a real store. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { conversationKeyName, runBudgets } from '../../host/proxy/run-budgets.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { Plan, PlanBudget } from '../../core/plan/plan.ts';
import { openStore } from '../../store/open-store.ts';
import {
  conversationNumber,
  conversationRow,
  plan,
  RUN,
  runItemRow,
  runRow,
  spendRow,
} from '../contract/store-rows.ts';

const LIMIT = 1_000_000_000;
const ENFORCED: PlanBudget = { nanoUsd: LIMIT, reserveNanoUsd: 1, mode: 'enforce' };

async function openWith(budget: PlanBudget | null) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' });
  onTestFinished(() => store.close());
  await store.plans.putPlan(RUN, { ...plan('hash'), budget } as Plan);
  const { records, plans, accounts } = store;
  return { store, budgets: runBudgets({ records, plans, accounts }) };
}

describe('runBudgets()', () => {
  it('finds the run of a conversation, and none for others', async () => {
    const { store, budgets } = await openWith(ENFORCED);
    await store.records.project([
      conversationRow(conversationNumber(1), { runId: RUN }),
      conversationRow(conversationNumber(2)),
    ]);
    const found = await Promise.all([1, 2, 3].map((n) => budgets.runOf(conversationNumber(n))));
    expect(found).toEqual([RUN, null, null]);
  });

  it.each<[PlanBudget | null, number | null]>([
    [ENFORCED, LIMIT],
    [{ ...ENFORCED, mode: 'observe' }, null],
    [{ ...ENFORCED, mode: 'audit' }, null],
    [null, null],
  ])('binds only where the plan enforces it: %j', async (budget, limit) => {
    const { budgets } = await openWith(budget);
    expect(await budgets.limitOf(RUN)).toBe(limit);
    expect(await budgets.limitOf('another')).toBeNull();
  });

  it('takes the amount that the run has now, whatever its plan says', async () => {
    const { store, budgets } = await openWith(ENFORCED);
    const amounts = [LIMIT, 2_500_000_000, 500_000_001];
    for (const [step, nanoUsd] of amounts.entries()) {
      await store.records.project([runRow({ sequence: step + 1, budget: { ...ENFORCED, nanoUsd } })]);
      expect(await budgets.limitOf(RUN)).toBe(nanoUsd);
    }
  });

  it('takes that of the plan while the row is one that an older version wrote', async () => {
    const { store, budgets } = await openWith(ENFORCED);
    await store.records.project([runRow()]);
    expect(await budgets.limitOf(RUN)).toBe(LIMIT);
  });

  it('adds what has ended and what goes on, each once, and misses no row that is still known', async () => {
    const { store, budgets } = await openWith(ENFORCED);
    const spent = (n: number, cost: number) =>
      spendRow(`call-${n}`, { keyName: conversationKeyName(conversationNumber(n)), cost: nanoUsd(cost) });
    await store.spend.write([spent(1, 100), spent(2, 20), spent(3, 3)]);
    expect(await budgets.spentBy(RUN)).toBe(0);
    await store.records.project([
      runRow({ spentNanoUsd: 100 }),
      runItemRow('ended', { phase: 'ended', conversationId: conversationNumber(1) }),
      runItemRow('working', { phase: 'working', conversationId: conversationNumber(2) }),
      runItemRow('again', { phase: 'waiting', conversationId: null }),
    ]);
    // The first conversation is deleted: its cost is in the sum of the run alone.
    expect(await budgets.spentBy(RUN)).toBe(120);
    await store.records.project([1, 2, 3].map((n) => conversationRow(conversationNumber(n), { runId: RUN })));
    expect(await budgets.spentBy(RUN)).toBe(123);
  });
});
