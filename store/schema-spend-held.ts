/**
 * What a spend row says besides its tokens, added in version 11: tokens written into a cache, those of reasoning, and
 * what budgets count for a call whose cost is not known (D30).
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';

export async function addHeldSpend(db: Kysely<unknown>): Promise<void> {
  for (const column of ['cache_write_tokens', 'reasoning_tokens', 'held_nano_usd'])
    await db.schema.alterTable('spend').addColumn(column, 'bigint').execute();
}
