/** Tables of the embedded engine, of the journal of drivers, and of the installation itself, as data. */
import type { TableDefinition } from './create-tables.ts';

const ENTITY = { machine: 'text', id: 'text' } as const;

export const ENGINE_TABLES: Readonly<Record<string, TableDefinition>> = {
  entity: {
    columns: { ...ENTITY, deadline: 'bigint?', done: 'flag', state: 'text', lists: 'text?' },
    primaryKey: ['machine', 'id'],
  },
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
  journal: {
    columns: { ...ENTITY, number: 'bigint', inputs: 'text' },
    primaryKey: ['machine', 'id', 'number'],
  },
  trouble: {
    columns: {
      ...ENTITY,
      what: 'text',
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
};
