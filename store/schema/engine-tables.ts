/** Tables of the embedded engine, of the journal of drivers, and of the installation itself, as data. */
import type { TableDefinitions } from './create-tables.ts';

const ENTITY = { machine: 'text', id: 'text' } as const;

export const ENGINE_TABLES = {
  entity: {
    columns: {
      ...ENTITY,
      deadline: 'bigint?',
      done: 'flag',
      // Whole, or the head of it when `lists` is there.
      state: 'text',
      // JSON: the length of each list that is kept in parts, by name; null when the state is whole.
      lists: 'text?',
    },
    primaryKey: ['machine', 'id'],
  },
  // One element of a list of an entity's state.
  entity_part: {
    columns: { ...ENTITY, list: 'text', position: 'bigint', state: 'text' },
    primaryKey: ['machine', 'id', 'list', 'position'],
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
  // A batch of a driver that may not be durable with the driver yet.
  journal: {
    columns: { ...ENTITY, number: 'bigint', inputs: 'text' },
    primaryKey: ['machine', 'id', 'number'],
  },
  // What is tried again; `is_over` keeps a late word from bringing it back.
  trouble: {
    columns: {
      ...ENTITY,
      what: 'text',
      // Empty where it is the entity's own.
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
  },
  installation: { columns: { name: 'text', value: 'text' }, primaryKey: ['name'] },
} as const satisfies TableDefinitions;
