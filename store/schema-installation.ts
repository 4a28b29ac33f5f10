/**
 * What belongs to a database besides its rows, added in version 6.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables } from './create-tables.ts';

export function createInstallation(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  const columns = { name: 'text', value: 'text' } as const;
  return createTables(db, { installation: { columns, primaryKey: ['name'] } }, isPostgres);
}
