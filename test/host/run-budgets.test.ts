/** What a run may spend and has spent, as the proxy asks a real store. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { conversationKeyName, runBudgets } from '../../host/proxy/run-budgets.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { Plan, PlanBudget } from '../../core/plan/plan.ts';
import type { RunSettings } from '../../core/run/message.ts';
import { changeSettings } from '../../core/run/settings.ts';
import type { RunContext } from '../../core/run/run-context.ts';
import type { LifecycleEvent } from '../../core/machine/projection.ts';
import { openStore, type Store } from '../../store/open-store.ts';
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
  return { store, budgets: runBudgets({ records, plans, log: store.lifecycle, accounts }) };
}

/** What the machine of the run records when somebody changes it, in its own words. */
async function amend(store: Store, settings: RunSettings, by?: string): Promise<void> {
  const events: LifecycleEvent[] = [];
  const rules = { concurrency: 4, budget: ENFORCED };
  const context = {
    state: { runId: RUN, rules, pace: undefined },
    order: (order: { event: LifecycleEvent }) => events.push(order.event),
  } as unknown as RunContext;
  changeSettings(context, {
    type: 'settingsChanged',
    requestId: 'r',
    settings,
    ...(by === undefined ? {} : { by }),
  });
  for (const event of events) await store.lifecycle.record(event, 1);
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

  it('takes the last amount that somebody set while the run went on', async () => {
    const { store, budgets } = await openWith(ENFORCED);
    await amend(store, { concurrency: 9 }, 'ann, budget $1 -> $9');
    expect(await budgets.limitOf(RUN)).toBe(LIMIT);
    await amend(store, { budgetNanoUsd: 2_500_000_000, concurrency: 9 }, 'ann');
    expect(await budgets.limitOf(RUN)).toBe(2_500_000_000);
    await amend(store, { budgetNanoUsd: 500_000_001 });
    expect(await budgets.limitOf(RUN)).toBe(500_000_001);
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
