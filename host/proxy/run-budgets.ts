/**
 * What runs may spend, as the proxy asks for it: what the row of the run says.
 * Owns finding the amount; the run's machine keeps the same budget by reservation, before a conversation begins.
 */
import type { ConversationId, RunId } from '../../core/ids.ts';
import { nanoUsd, type NanoUsd } from '../../core/money/money.ts';
import type { ItemPhase } from '../../core/machine/projection.ts';
import type { PlanStore, RecordStore } from '../../ports/record-store.ts';
import type { SpendAccounts } from '../../ports/spend-accounts.ts';
import type { SpendBudgets } from '../../ports/spend-budgets.ts';

export interface RunBudgetSources {
  readonly records: RecordStore;
  readonly plans: PlanStore;
  readonly accounts: SpendAccounts;
}

/** Name of a conversation's key in its spend rows. */
export function conversationKeyName(id: string): string {
  return `conversation/${id}`;
}

export function runBudgets({ records, plans, accounts }: RunBudgetSources): SpendBudgets {
  return {
    runOf: async (id) => (await records.conversation(id as ConversationId))?.runId ?? null,
    async limitOf(id) {
      const row = await records.run(id as RunId);
      // A row that an older version wrote has no budget until the next step of its run.
      const budget = row?.budget ?? (await plans.plan(id as RunId))?.budget;
      return budget?.mode === 'enforce' ? nanoUsd(budget.nanoUsd) : null;
    },
    spentBy: (id) => spentBy({ records, accounts }, id as RunId),
  };
}

/**
 * What has ended is in the run's own sum, also when its conversation is deleted; of what goes on, the rows are all there
 * is. The rows of all conversations that are still known count as well, should the run not have heard of some.
 */
async function spentBy(
  { records, accounts }: Pick<RunBudgetSources, 'records' | 'accounts'>,
  id: RunId,
): Promise<NanoUsd> {
  const items = await records.runItems(id);
  const atWork = new Set(
    items.flatMap((item) => (AT_WORK.has(item.phase) ? (item.conversationId ?? []) : [])),
  );
  const others = (await records.conversations({ runId: id })).map((row) => row.conversationId);
  const run = await records.run(id);
  let [settled, known] = [run?.spentNanoUsd ?? 0, 0];
  for (const one of new Set([...atWork, ...others])) {
    const spent = await accounts.spentBy(conversationKeyName(one), 0);
    known += spent;
    if (atWork.has(one)) settled += spent;
  }
  return nanoUsd(Math.max(settled, known));
}

const AT_WORK: ReadonlySet<ItemPhase> = new Set(['starting', 'working', 'verifying', 'collecting']);
