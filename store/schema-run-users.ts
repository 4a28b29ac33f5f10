/**
 * Whose a run is, added in version 13: before, every run was the local user's.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';

export async function addRunUsers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('run')
    .addColumn('user_id', 'text', (column) => column.notNull().defaultTo('local'))
    .execute();
  await db.schema.createIndex('run_by_user').on('run').columns(['user_id', 'created_at', 'run_id']).execute();
}
