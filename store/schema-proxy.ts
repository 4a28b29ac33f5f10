/**
 * What version 3 adds for the proxy: virtual keys, daily totals of old spend rows, and who a spend row is charged to.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables, type TableDefinition } from './create-tables.ts';

const TABLES: Readonly<Record<string, TableDefinition>> = {
  proxy_key: {
    columns: { hash: 'text', name: 'text', created_at: 'bigint', body: 'text' },
    primaryKey: ['hash'],
    unique: ['name'],
  },
  spend_daily: {
    columns: {
      day: 'bigint',
      model_name: 'text',
      key_name: 'text',
      team: 'text',
      user: 'text',
      calls: 'bigint',
      failed: 'bigint',
      unpriced: 'bigint',
      prompt_tokens: 'bigint',
      completion_tokens: 'bigint',
      cached_tokens: 'bigint',
      cost_nano_usd: 'bigint',
    },
    primaryKey: ['day', 'model_name', 'key_name', 'team', 'user'],
  },
};

export async function createProxyTables(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  await createTables(db, TABLES, isPostgres);
  await db.schema.alterTable('spend').addColumn('team', 'text').execute();
  await db.schema.alterTable('spend').addColumn('tags', 'text').execute();
  await db.schema
    .createIndex('spend_by_key_name_started_at')
    .on('spend')
    .columns(['key_name', 'started_at'])
    .execute();
}
