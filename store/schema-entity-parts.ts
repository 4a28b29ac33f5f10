/**
 * States in parts, added in version 5: rows for the elements of long lists, and in the entity how long the lists are.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import { sql, type Kysely } from 'kysely';
import { columnType, createTables } from './create-tables.ts';

/** An entity of before has no lists: it is read whole, and goes over to parts when it is next written. */
export async function addEntityParts(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  const columns = { machine: 'text', id: 'text', list: 'text', position: 'bigint', state: 'text' } as const;
  const entity_part = { columns, primaryKey: ['machine', 'id', 'list', 'position'] };
  await createTables(db, { entity_part }, isPostgres);
  await sql`alter table entity add column lists ${columnType('text?', isPostgres)}`.execute(db);
}
