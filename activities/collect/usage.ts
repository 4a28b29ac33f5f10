/**
 * Usage: the conversation's spend rows as our proxy recorded them.
 * Owns the file's shape; amounts are exact (D26).
 */
import { formatNano, nanoUsd } from '../../core/money/money.ts';
import type { ConversationId } from '../../core/ids.ts';
import { spendRows } from '../spend.ts';
import type { World } from '../world.ts';
import type { Collected } from './collected.ts';

export async function collectUsage(
  world: World,
  conversationId: ConversationId,
): Promise<readonly Collected[]> {
  const rows = await spendRows(world, conversationId);
  const priced = rows.filter((row) => row.cost !== null);
  const totalNanoUsd = nanoUsd(priced.reduce((sum, row) => sum + (row.cost ?? 0), 0));
  const usage = {
    calls: rows.length,
    unpriced: rows.length - priced.length,
    promptTokens: rows.reduce((sum, row) => sum + (row.promptTokens ?? 0), 0),
    completionTokens: rows.reduce((sum, row) => sum + (row.completionTokens ?? 0), 0),
    costUsd: formatNano(totalNanoUsd),
    rows,
  };
  return [{ name: 'usage.json', content: new TextEncoder().encode(`${JSON.stringify(usage, null, 2)}\n`) }];
}
