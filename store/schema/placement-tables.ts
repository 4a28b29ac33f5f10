/** Tables of the one shared decision, who is where and who waits, as data. */
import type { TableDefinitions } from './create-tables.ts';

export const PLACEMENT_TABLES = {
  attachment: {
    columns: {
      conversation_id: 'text',
      sandbox_id: 'text',
      attached_at: 'bigint',
      // 1 once detached: the row stays, so that a repeated `detach` gives the same answer.
      detached: 'flag',
      // 1 while it takes a place of its run's pool: until its item has ended.
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
    columns: {
      // Order of arrival.
      position: 'position',
      waiter_id: 'text',
      machine: 'text',
      user_id: 'text',
      // When it last asked: one that has not for long is not there any more.
      asked_at: 'bigint',
    },
    unique: ['waiter_id'],
  },
  activity: { columns: { sandbox_id: 'text', last_activity_at: 'bigint' }, primaryKey: ['sandbox_id'] },
  // One that is booted before it is asked for; it stays as `claimed`, so that a repeated request finds it again.
  warm_sandbox: {
    columns: {
      sandbox_id: 'text',
      // `booting`, `ready`, `leaving` or `claimed`.
      state: 'text',
      spec: 'text',
      reserved_at: 'bigint',
      booted_at: 'bigint?',
      // Id that the claimant's sandbox would have had, had it been a new one; null until it is claimed.
      claim: 'text?',
    },
    primaryKey: ['sandbox_id'],
    indexes: [['state', 'booted_at'], ['claim']],
  },
} as const satisfies TableDefinitions;

/** Hosts, and who may speak for each. */
export const HOST_TABLES = {
  host: {
    columns: {
      name: 'text',
      // Id of the data directory in which its sandboxes lie.
      directory: 'text',
      runtime: 'text',
      capacity: 'bigint',
      // JSON: a map of texts.
      labels: 'text',
      version: 'text',
      // Grows with every lease.
      fence: 'bigint',
      // 1: it drains; 2: what was released there is archived and removed, too.
      draining: 'flag=0',
      // Epoch milliseconds by the clock of the database, as the next one.
      heartbeat_at: 'bigint',
      lease_until: 'bigint',
    },
    primaryKey: ['name'],
    unique: ['directory'],
  },
} as const satisfies TableDefinitions;
