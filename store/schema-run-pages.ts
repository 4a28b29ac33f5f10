/**
 * Indexes for pages of runs and of their items, added in version 7.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';

export async function indexRunPages(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('run_by_age').on('run').columns(['created_at', 'run_id']).execute();
  await db.schema
    .createIndex('run_item_by_place')
    .on('run_item')
    .columns(['run_id', 'position', 'key'])
    .execute();
}
