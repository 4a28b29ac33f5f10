/**
 * The tables of spend: one row for each call of the proxy, and daily totals of those that are gone.
 * Owns their columns as the dialects read them; must not name a query.
 */
import type { BigIntColumn, NullableBigIntColumn, FlagColumn } from '../schema/column-types.ts';

export interface SpendTable {
  readonly call_id: string;
  readonly state: string;
  readonly started_at: BigIntColumn;
  readonly ended_at: NullableBigIntColumn;
  readonly route: string;
  readonly model_name: string;
  readonly upstream_model: string;
  readonly streamed: FlagColumn;
  readonly http_status: NullableBigIntColumn;
  readonly response_id: string | null;
  readonly session_id: string | null;
  readonly user: string | null;
  readonly key_name: string;
  readonly prompt_tokens: NullableBigIntColumn;
  readonly completion_tokens: NullableBigIntColumn;
  readonly cached_tokens: NullableBigIntColumn;
  readonly cost_nano_usd: NullableBigIntColumn;
  readonly cost_source: string;
  readonly cache_write_tokens: NullableBigIntColumn;
  readonly reasoning_tokens: NullableBigIntColumn;
  readonly held_nano_usd: NullableBigIntColumn;
  readonly metadata: string | null;
  readonly team: string | null;
  /** A JSON list of texts. */
  readonly tags: string | null;
  /** Of several that share the database; null where one serves alone. */
  readonly proxy_id: string | null;
  /** Whose budget the call was held to, where several proxies share it. */
  readonly run_id: string | null;
}

/** A process beside others, and until when the others take it to be alive, by the database's clock. */
export interface ProxyPeerTable {
  readonly id: string;
  readonly expires_at: BigIntColumn;
  /** `worker`, `proxy`, `run` or `api`. */
  readonly kind: string;
  readonly name: string;
  /** As `ConfigurationStanding` has them. */
  readonly configuration: NullableBigIntColumn;
  readonly configuration_refused: string | null;
}

/** Whose a duty is, as long as that one's lease runs: its id, which nobody has twice, is the fence. */
export interface DutyTable {
  readonly name: string;
  readonly holder: string;
}

/** How often anything was changed that proxies keep in memory; one row. */
export interface ProxyRevisionTable {
  readonly name: string;
  readonly revision: BigIntColumn;
}

/** One limit that several proxies share, in one window of it. */
export interface SpendAccountTable {
  readonly unit: string;
  readonly owner: string;
  readonly window_from: BigIntColumn;
  readonly spent: BigIntColumn;
  /** Who waits for a share of it, and until when that counts; empty for nobody. */
  readonly waiter: string;
  readonly waiter_until: BigIntColumn;
}

/** What one proxy may use of an account, and what it has said it used. */
export interface SpendLeaseTable {
  readonly holder: string;
  readonly unit: string;
  readonly owner: string;
  readonly window_from: BigIntColumn;
  readonly granted: BigIntColumn;
  readonly reported: BigIntColumn;
}

/** Totals of the spend rows of one UTC day that are no longer there; an empty text stands for nobody. */
export interface SpendDailyTable {
  /** Epoch milliseconds of the day's beginning. */
  readonly day: BigIntColumn;
  readonly model_name: string;
  readonly key_name: string;
  readonly team: string;
  readonly user: string;
  readonly calls: BigIntColumn;
  readonly failed: BigIntColumn;
  readonly unpriced: BigIntColumn;
  readonly prompt_tokens: BigIntColumn;
  readonly completion_tokens: BigIntColumn;
  readonly cached_tokens: BigIntColumn;
  readonly cost_nano_usd: BigIntColumn;
}

/** Rows that the database once had, and did not have later. */
export interface SpendLossTable {
  readonly first_at: BigIntColumn;
  readonly last_at: BigIntColumn;
  readonly calls: BigIntColumn;
  readonly cost_nano_usd: BigIntColumn;
  readonly may_be_more: FlagColumn;
  readonly seen_at: BigIntColumn;
}
