/**
 * The line of those who wait for a slot, added in version 13.
 * Part of a migration: once it is released it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables, type TableDefinition } from './create-tables.ts';

const SLOT_LINE: TableDefinition = {
  columns: { position: 'position', waiter_id: 'text', machine: 'text', user_id: 'text', asked_at: 'bigint' },
  unique: ['waiter_id'],
};

export function createSlotLine(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  return createTables(db, { slot_line: SLOT_LINE }, isPostgres);
}
