/** Tables of the application API: who may call it, what was asked, and what users keep there, as data. */
import type { TableDefinitions } from './create-tables.ts';

export const ACCESS_TABLES = {
  api_key: {
    columns: {
      key_id: 'position',
      user_id: 'text',
      sha256: 'text',
      name: 'text?',
      scope: 'text',
      created_at: 'bigint',
      not_before: 'bigint?',
      expires_at: 'bigint?',
      last_used_at: 'bigint?',
    },
    unique: ['sha256'],
    indexes: [['user_id']],
  },
  start_task: {
    columns: {
      task_id: 'text',
      user_id: 'text',
      conversation_id: 'text',
      created_at: 'bigint',
      idempotency_key: 'text?',
      delivered: 'flag',
      body: 'text',
    },
    primaryKey: ['task_id'],
    unique: ['user_id', 'idempotency_key'],
    indexes: [['user_id', 'created_at', 'task_id'], ['conversation_id'], ['delivered']],
  },
  idempotency_key: {
    columns: { user_id: 'text', target: 'text', key: 'text', mark: 'text', used_at: 'bigint' },
    primaryKey: ['user_id', 'target', 'key'],
    indexes: [['used_at']],
  },
  document: {
    columns: { user_id: 'text', kind: 'text', name: 'text', body: 'text' },
    primaryKey: ['user_id', 'kind', 'name'],
  },
  audit: {
    columns: {
      position: 'position',
      at: 'bigint',
      user_id: 'text?',
      key_id: 'bigint?',
      action: 'text',
      about: 'text',
      status: 'bigint',
    },
  },
  secret: {
    // `key_id`: the key that sealed it, so that keys can be changed.
    columns: { scope: 'text', name: 'text', key_id: 'text', sealed: 'text' },
    primaryKey: ['scope', 'name'],
  },
} as const satisfies TableDefinitions;

/** How many requests are left to callers, in thousandths, and since when. */
export const RATE_TABLES = {
  rate_bucket: {
    columns: { bucket: 'text', tokens: 'bigint', at: 'bigint' },
    primaryKey: ['bucket'],
  },
} as const satisfies TableDefinitions;
