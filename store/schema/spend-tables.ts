/** Tables of the proxy: what each call cost, sums of old calls, and virtual keys, as data. */
import type { TableDefinition } from './create-tables.ts';

export const SPEND_TABLES: Readonly<Record<string, TableDefinition>> = {
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
      team: 'text?',
      tags: 'text?',
      key_name: 'text',
      prompt_tokens: 'bigint?',
      completion_tokens: 'bigint?',
      cached_tokens: 'bigint?',
      cache_write_tokens: 'bigint?',
      reasoning_tokens: 'bigint?',
      cost_nano_usd: 'bigint?',
      // What budgets count for a call whose cost is not known (D30).
      held_nano_usd: 'bigint?',
      cost_source: 'text',
      metadata: 'text?',
    },
    primaryKey: ['call_id'],
    indexes: [['started_at', 'call_id'], ['session_id'], ['state'], ['key_name', 'started_at']],
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
  proxy_key: {
    columns: { hash: 'text', name: 'text', created_at: 'bigint', body: 'text' },
    primaryKey: ['hash'],
    unique: ['name'],
  },
};

/** What databases had lost of it. */
export const SPEND_LOSS_TABLES: Readonly<Record<string, TableDefinition>> = {
  spend_loss: {
    columns: {
      first_at: 'bigint',
      last_at: 'bigint',
      calls: 'bigint',
      cost_nano_usd: 'bigint',
      may_be_more: 'flag',
      seen_at: 'bigint',
    },
    primaryKey: ['first_at', 'last_at'],
  },
};

/** What several proxies over one database know of each other, and the limits that they share. */
export const SHARED_SPEND_TABLES: Readonly<Record<string, TableDefinition>> = {
  proxy_peer: { columns: { id: 'text', expires_at: 'bigint' }, primaryKey: ['id'] },
  proxy_revision: { columns: { name: 'text', revision: 'bigint' }, primaryKey: ['name'] },
  spend_account: {
    columns: {
      unit: 'text',
      owner: 'text',
      window_from: 'bigint',
      spent: 'bigint',
      waiter: 'text',
      waiter_until: 'bigint',
    },
    primaryKey: ['unit', 'owner', 'window_from'],
  },
  spend_lease: {
    columns: {
      holder: 'text',
      unit: 'text',
      owner: 'text',
      window_from: 'bigint',
      granted: 'bigint',
      reported: 'bigint',
    },
    primaryKey: ['unit', 'owner', 'window_from', 'holder'],
    indexes: [['holder']],
  },
};

/** What several processes go by together. */
export const CONFIGURATION_TABLES: Readonly<Record<string, TableDefinition>> = {
  configuration: { columns: { version: 'bigint', text: 'text', at: 'bigint' }, primaryKey: ['version'] },
};

/** What one of several processes does for all. */
export const DUTY_TABLES: Readonly<Record<string, TableDefinition>> = {
  duty: { columns: { name: 'text', holder: 'text' }, primaryKey: ['name'] },
};
