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
