/**
 * Which request an idempotency key was used for, added in version 16.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables, type TableDefinition } from './create-tables.ts';

const IDEMPOTENCY_KEY: TableDefinition = {
  columns: { user_id: 'text', target: 'text', key: 'text', mark: 'text', used_at: 'bigint' },
  primaryKey: ['user_id', 'target', 'key'],
  indexes: [['used_at']],
};

export function createIdempotencyKeys(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  return createTables(db, { idempotency_key: IDEMPOTENCY_KEY }, isPostgres);
}
