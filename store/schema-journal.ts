/**
 * The journal of drivers, added in version 2.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables } from './create-tables.ts';

export function createJournal(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  const columns = { machine: 'text', id: 'text', number: 'bigint', inputs: 'text' } as const;
  return createTables(db, { journal: { columns, primaryKey: ['machine', 'id', 'number'] } }, isPostgres);
}
