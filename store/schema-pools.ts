/**
 * Pools of runs, added in version 8: whose pool a sandbox belongs to, and which conversations take a place in it.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import { sql, type Kysely } from 'kysely';
import { columnType } from './create-tables.ts';

/** A sandbox of before belongs to no pool, and whoever is attached to it takes no place of one. */
export async function addPools(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  const text = columnType('text?', isPostgres);
  const count = columnType('bigint', isPostgres);
  await sql`alter table sandbox add column pool ${text}`.execute(db);
  await sql`alter table sandbox add column pool_affinity ${text}`.execute(db);
  await sql`alter table sandbox add column pool_placed ${count} not null default 0`.execute(db);
  await sql`alter table attachment add column pool_place ${columnType('flag', isPostgres)} not null default 0`.execute(
    db,
  );
  await db.schema.createIndex('sandbox_by_pool').on('sandbox').columns(['pool']).execute();
}
