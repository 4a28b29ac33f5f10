/**
 * What runs may spend, as the proxy asks for it: from their plans, with what was changed of them since.
 * Owns finding the amount; the run's machine keeps the same budget by reservation, before a conversation begins.
 */
import type { ConversationId, RunId } from '../../core/ids.ts';
import { nanoUsd, parseUsd, type NanoUsd } from '../../core/money/money.ts';
import type { ItemPhase } from '../../core/machine/projection.ts';
import { AMENDED } from '../../core/run/settings.ts';
import type { PlanStore, RecordStore, RunLog } from '../../ports/record-store.ts';
import type { SpendAccounts } from '../../ports/spend-accounts.ts';
import type { SpendBudgets } from '../../ports/spend-budgets.ts';

export interface RunBudgetSources {
  readonly records: RecordStore;
  readonly plans: PlanStore;
  readonly log: RunLog;
  readonly accounts: SpendAccounts;
}

/** Name of a conversation's key in its spend rows. */
export function conversationKeyName(id: string): string {
  return `conversation/${id}`;
}

export function runBudgets({ records, plans, log, accounts }: RunBudgetSources): SpendBudgets {
  return {
    runOf: async (id) => (await records.conversation(id as ConversationId))?.runId ?? null,
    async limitOf(id) {
      const { budget = null } = (await plans.plan(id as RunId)) ?? {};
      if (budget?.mode !== 'enforce') return null;
      const events = await log.runEvents(id as RunId);
      const amounts = events.flatMap(({ code, detail }) => (code === AMENDED ? amountIn(detail) : []));
      return amounts.at(-1) ?? nanoUsd(budget.nanoUsd);
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

/** "budget $1.00 -> $5.00" among what was changed; whoever changed it stands behind and is not looked at. */
function amountIn(detail: string): readonly NanoUsd[] {
  const [what = ''] = detail.split(', by ');
  const text = /(?:^|, )budget \$\S+ -> \$(\d+(?:\.\d+)?)(?:,|$)/.exec(what)?.[1];
  const amount = text === undefined ? null : parseUsd(text);
  return amount === null ? [] : [amount];
}
