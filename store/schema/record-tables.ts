/** Tables of what every transition writes: sandboxes, conversations, runs, and what they said and left, as data. */
import type { TableDefinitions } from './create-tables.ts';

const STAMP = { generation: 'bigint', sequence: 'bigint' } as const;

export const RECORD_TABLES = {
  sandbox: {
    columns: {
      sandbox_id: 'text',
      user_id: 'text',
      status: 'text',
      available: 'flag',
      // Set by placement, never by a projection, as those of the pool.
      draining: 'flag=0',
      session_started_at: 'bigint?',
      created_at: 'bigint',
      created_by: 'text',
      // The run whose pool it belongs to; null: it belongs to none.
      pool: 'text?',
      // The affinity of the conversation that came when it was empty.
      pool_affinity: 'text?',
      // Conversations ever placed in it as one of a pool.
      pool_placed: 'bigint=0',
      ...STAMP,
      body: 'text',
    },
    primaryKey: ['sandbox_id'],
    indexes: [['user_id', 'status'], ['user_id', 'created_at', 'sandbox_id'], ['pool']],
  },
  conversation: {
    columns: {
      conversation_id: 'text',
      user_id: 'text',
      run_id: 'text?',
      sandbox_id: 'text?',
      // As text of a column: what a column cannot hold is replaced. Empty for none, as the next one.
      title: 'text',
      sandbox_status: 'text',
      execution_status: 'text',
      // 1 while its agent works, its start goes on or a message waits: such a sandbox is not paused for room (D17).
      at_work: 'flag',
      created_at: 'bigint',
      updated_at: 'bigint',
      ...STAMP,
      body: 'text',
    },
    primaryKey: ['conversation_id'],
    indexes: [
      ['run_id'],
      ['sandbox_id'],
      ['user_id', 'created_at', 'conversation_id'],
      ['user_id', 'updated_at', 'conversation_id'],
      ['user_id', 'title', 'conversation_id'],
    ],
  },
  // What a search by tag goes through; the tags themselves are in the conversation's row.
  conversation_tag: {
    columns: { conversation_id: 'text', key: 'text', value: 'text', user_id: 'text', created_at: 'bigint' },
    primaryKey: ['conversation_id', 'key'],
    // A page by tag stands in it in its order, and is all that is read of it.
    indexes: [['user_id', 'key', 'value', 'created_at', 'conversation_id']],
  },
  run: {
    columns: { run_id: 'text', user_id: 'text', created_at: 'bigint', ...STAMP, body: 'text' },
    primaryKey: ['run_id'],
    indexes: [
      ['created_at', 'run_id'],
      ['user_id', 'created_at', 'run_id'],
    ],
  },
  run_item: {
    columns: {
      // Order of first projection.
      position: 'position',
      run_id: 'text',
      key: 'text',
      sandbox_id: 'text?',
      ...STAMP,
      body: 'text',
    },
    unique: ['run_id', 'key'],
    indexes: [['run_id', 'position', 'key']],
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
  // Head of a transcript: its row is what concurrent appends queue on.
  transcript: {
    columns: {
      conversation_id: 'text',
      last_sequence: 'bigint',
      last_received_at: 'bigint?',
      // Of the bodies as they are stored: a sandbox decides how much its agent says (D31).
      bytes: 'bigint=0',
    },
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
      machine: 'text',
      id: 'text',
      code: 'text',
      detail: 'text',
      at: 'bigint',
    },
    indexes: [['conversation_id'], ['id']],
  },
} as const satisfies TableDefinitions;
