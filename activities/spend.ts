/**
 * What a conversation has cost so far, by our own proxy's rows.
 * Owns the sum over all pages; unpriced rows count as nothing here and are shown as unpriced in reports (D26).
 */
import type { ConversationId } from '../core/ids.ts';
import type { SpendRow } from '../core/money/spend.ts';
import type { World } from './world.ts';

const PAGE_ROWS = 1_000;

/** Every row of a conversation, in order. */
export async function spendRows(world: World, sessionId: ConversationId): Promise<readonly SpendRow[]> {
  const rows: SpendRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const after = last === undefined ? {} : { after: { startedAt: last.startedAt, callId: last.callId } };
    const page = await world.spend.search({ sessionId, limit: PAGE_ROWS, ...after });
    rows.push(...page);
    if (page.length < PAGE_ROWS) return rows;
  }
}

/** Integer nano-USD. */
export async function spentBy(world: World, sessionId: ConversationId): Promise<number> {
  const rows = await spendRows(world, sessionId);
  return rows.reduce((sum, row) => sum + (row.cost ?? 0), 0);
}
