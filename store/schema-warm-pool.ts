/**
 * The warm pool, added in version 9.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables, type TableDefinition } from './create-tables.ts';

const WARM_SANDBOX: TableDefinition = {
  columns: {
    sandbox_id: 'text',
    state: 'text',
    spec: 'text',
    reserved_at: 'bigint',
    booted_at: 'bigint?',
    claim: 'text?',
  },
  primaryKey: ['sandbox_id'],
  indexes: [['state', 'booted_at'], ['claim']],
};

export function createWarmPool(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  return createTables(db, { warm_sandbox: WARM_SANDBOX }, isPostgres);
}
