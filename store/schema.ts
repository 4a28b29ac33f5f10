/**
 * The tables of version 1, as data, and their creation in either dialect.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';
import { createTables, type TableDefinition } from './create-tables.ts';

const STAMP = { generation: 'bigint', sequence: 'bigint' } as const;
const ENTITY = { machine: 'text', id: 'text' } as const;

const ENGINE: Readonly<Record<string, TableDefinition>> = {
  entity: {
    columns: { ...ENTITY, deadline: 'bigint?', done: 'flag', state: 'text' },
    primaryKey: ['machine', 'id'],
  },
  outbox: {
    columns: {
      command_id: 'text',
      ...ENTITY,
      created_at: 'bigint',
      attempt: 'bigint',
      not_before: 'bigint',
      command: 'text',
    },
    primaryKey: ['command_id'],
  },
  inbox: {
    columns: { position: 'position', inbox_id: 'text', ...ENTITY, accepted_at: 'bigint', event: 'text' },
    unique: ['inbox_id'],
  },
};

const RECORDS: Readonly<Record<string, TableDefinition>> = {
  sandbox: {
    columns: {
      sandbox_id: 'text',
      user_id: 'text',
      status: 'text',
      available: 'flag',
      draining: 'flag=0',
      session_started_at: 'bigint?',
      created_at: 'bigint',
      created_by: 'text',
      ...STAMP,
      body: 'text',
    },
    primaryKey: ['sandbox_id'],
    indexes: [['user_id', 'status']],
  },
  conversation: {
    columns: {
      conversation_id: 'text',
      user_id: 'text',
      run_id: 'text?',
      sandbox_id: 'text?',
      at_work: 'flag',
      created_at: 'bigint',
      ...STAMP,
      body: 'text',
    },
    primaryKey: ['conversation_id'],
    indexes: [['run_id'], ['sandbox_id']],
  },
  run: {
    columns: { run_id: 'text', created_at: 'bigint', ...STAMP, body: 'text' },
    primaryKey: ['run_id'],
  },
  run_item: {
    columns: {
      position: 'position',
      run_id: 'text',
      key: 'text',
      sandbox_id: 'text?',
      ...STAMP,
      body: 'text',
    },
    unique: ['run_id', 'key'],
  },
  tombstone: { columns: { conversation_id: 'text' }, primaryKey: ['conversation_id'] },
  plan: { columns: { run_id: 'text', hash: 'text', body: 'text' }, primaryKey: ['run_id'] },
  workspace: { columns: { conversation_id: 'text', body: 'text' }, primaryKey: ['conversation_id'] },
  archive: {
    columns: {
      sandbox_id: 'text',
      generation: 'bigint',
      blob_key: 'text',
      sha256: 'text',
      bytes: 'bigint',
      at: 'bigint',
    },
    primaryKey: ['sandbox_id', 'generation'],
  },
};

const PLACEMENT: Readonly<Record<string, TableDefinition>> = {
  attachment: {
    columns: { conversation_id: 'text', sandbox_id: 'text', attached_at: 'bigint', detached: 'flag' },
    primaryKey: ['conversation_id'],
    indexes: [['sandbox_id']],
  },
  placement_decision: {
    columns: { conversation_id: 'text', created: 'flag', body: 'text' },
    primaryKey: ['conversation_id'],
  },
  slot: {
    columns: { sandbox_id: 'text', user_id: 'text', taken_at: 'bigint' },
    primaryKey: ['sandbox_id'],
    indexes: [['user_id']],
  },
  activity: { columns: { sandbox_id: 'text', last_activity_at: 'bigint' }, primaryKey: ['sandbox_id'] },
};

const LOGS: Readonly<Record<string, TableDefinition>> = {
  transcript: {
    columns: { conversation_id: 'text', last_sequence: 'bigint', last_received_at: 'bigint?' },
    primaryKey: ['conversation_id'],
  },
  event: {
    columns: {
      conversation_id: 'text',
      sequence: 'bigint',
      event_id: 'text',
      timestamp: 'text',
      kind: 'text',
      body: 'text',
    },
    primaryKey: ['conversation_id', 'sequence'],
    unique: ['conversation_id', 'event_id'],
  },
  lifecycle_event: {
    columns: {
      position: 'position',
      conversation_id: 'text?',
      ...ENTITY,
      code: 'text',
      detail: 'text',
      at: 'bigint',
    },
    indexes: [['conversation_id'], ['id']],
  },
  spend: {
    columns: {
      call_id: 'text',
      state: 'text',
      started_at: 'bigint',
      ended_at: 'bigint?',
      route: 'text',
      model_name: 'text',
      upstream_model: 'text',
      streamed: 'flag',
      http_status: 'bigint?',
      response_id: 'text?',
      session_id: 'text?',
      user: 'text?',
      key_name: 'text',
      prompt_tokens: 'bigint?',
      completion_tokens: 'bigint?',
      cached_tokens: 'bigint?',
      cost_nano_usd: 'bigint?',
      cost_source: 'text',
      metadata: 'text?',
    },
    primaryKey: ['call_id'],
    indexes: [['started_at', 'call_id'], ['session_id'], ['state']],
  },
  secret: {
    columns: { scope: 'text', name: 'text', key_id: 'text', sealed: 'text' },
    primaryKey: ['scope', 'name'],
  },
};

/** Creates every table and index of version 1. */
export async function createSchema(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  const tables = { ...ENGINE, ...RECORDS, ...PLACEMENT, ...LOGS };
  await createTables(db, tables, isPostgres);
}
