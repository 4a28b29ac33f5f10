/** Tables of the proxy: what each call cost, sums of old calls, and virtual keys, as data. */
import type { TableDefinitions } from './create-tables.ts';

export const SPEND_TABLES = {
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
      // A JSON list of texts.
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
  // Totals of the rows of one UTC day that are no longer there; an empty text stands for none.
  spend_daily: {
    columns: {
      // Epoch milliseconds of the day's beginning.
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
    // `hash`: SHA-256 of the key, in hex.
    columns: { hash: 'text', name: 'text', created_at: 'bigint', body: 'text' },
    primaryKey: ['hash'],
    unique: ['name'],
  },
} as const satisfies TableDefinitions;

/** Rows that the database once had, and did not have later. */
export const SPEND_LOSS_TABLES = {
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
} as const satisfies TableDefinitions;

/** What several proxies over one database know of each other, and the limits that they share. */
export const SHARED_SPEND_TABLES = {
  // A process beside others, and until when the others take it to be alive, by the database's clock.
  proxy_peer: { columns: { id: 'text', expires_at: 'bigint' }, primaryKey: ['id'] },
  // How often anything was changed that proxies keep in memory; one row.
  proxy_revision: { columns: { name: 'text', revision: 'bigint' }, primaryKey: ['name'] },
  // One limit that several proxies share, in one window of it.
  spend_account: {
    columns: {
      unit: 'text',
      owner: 'text',
      window_from: 'bigint',
      spent: 'bigint',
      // Who waits for a share of it, and until when that counts; empty for none.
      waiter: 'text',
      waiter_until: 'bigint',
    },
    primaryKey: ['unit', 'owner', 'window_from'],
  },
  // What one proxy may use of an account, and what it has reported as used.
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
} as const satisfies TableDefinitions;

/** What several processes go by together. */
export const CONFIGURATION_TABLES = {
  configuration: { columns: { version: 'bigint', text: 'text', at: 'bigint' }, primaryKey: ['version'] },
} as const satisfies TableDefinitions;

/** What one of several processes does for all, as long as its lease runs: the id of the holder is the fence. */
export const DUTY_TABLES = {
  duty: { columns: { name: 'text', holder: 'text' }, primaryKey: ['name'] },
} as const satisfies TableDefinitions;
