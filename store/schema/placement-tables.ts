/** Tables of the one shared decision, who is where and who waits, as data. */
import type { TableDefinition } from './create-tables.ts';

export const PLACEMENT_TABLES: Readonly<Record<string, TableDefinition>> = {
  attachment: {
    columns: {
      conversation_id: 'text',
      sandbox_id: 'text',
      attached_at: 'bigint',
      detached: 'flag',
      pool_place: 'flag=0',
    },
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
  slot_line: {
    columns: { position: 'position', waiter_id: 'text', machine: 'text', user_id: 'text', asked_at: 'bigint' },
    unique: ['waiter_id'],
  },
  activity: { columns: { sandbox_id: 'text', last_activity_at: 'bigint' }, primaryKey: ['sandbox_id'] },
  warm_sandbox: {
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
  },
};

/** Hosts, and who may speak for each. */
export const HOST_TABLES: Readonly<Record<string, TableDefinition>> = {
  host: {
    columns: {
      name: 'text',
      directory: 'text',
      runtime: 'text',
      capacity: 'bigint',
      labels: 'text',
      version: 'text',
      fence: 'bigint',
      draining: 'flag=0',
      heartbeat_at: 'bigint',
      lease_until: 'bigint',
    },
    primaryKey: ['name'],
    unique: ['directory'],
  },
};
