/**
 * Current trouble, added in version 11.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables, type TableDefinition } from './create-tables.ts';

const TROUBLE: TableDefinition = {
  columns: {
    machine: 'text',
    id: 'text',
    what: 'text',
    item: 'text',
    cause: 'text',
    since: 'bigint',
    tries: 'bigint',
    next_at: 'bigint',
    at: 'bigint',
    is_over: 'flag',
  },
  primaryKey: ['machine', 'id', 'what', 'item'],
  indexes: [['is_over', 'at']],
};

export function createTrouble(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  return createTables(db, { trouble: TROUBLE }, isPostgres);
}
