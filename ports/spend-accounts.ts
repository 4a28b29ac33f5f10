/**
 * What spend adds up to: per key for budgets, per day for reports, and the removal of old rows.
 * Owns the interface; single rows are read through `ports/spend-log.ts`.
 */
import type { NanoUsd } from '../core/money/money.ts';

/** One group of one UTC day. */
export interface DailySpend {
  /** Epoch milliseconds of the day's beginning. */
  readonly day: number;
  readonly modelName: string;
  readonly keyName: string;
  readonly team: string | null;
  readonly user: string | null;
  readonly calls: number;
  /** Calls that ended as `failed`, `aborted` or `interrupted`. */
  readonly failed: number;
  /** Calls without a price; they are in no sum of money (D26). */
  readonly unpriced: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cost: NanoUsd;
}

/** Sums over spend rows, also over those that were removed. */
export interface SpendAccounts {
  /** The priced cost of every row of this key that began at `from` or later. */
  spentBy(keyName: string, from: number): Promise<NanoUsd>;
  /**
   * Totals of the days that begin in [from, to), rows still there and rows removed together, each call once, in the
   * order of day, model, key, team and user.
   */
  daily(interval: { readonly from: number; readonly to: number }): Promise<readonly DailySpend[]>;
  /**
   * Moves the ended rows that began before `before` into the daily totals, at most `limit`; one transaction, so that
   * a call is always in exactly one of both. Returns how many; fewer than `limit` means that none is left.
   */
  fold(before: number, limit: number): Promise<number>;
}
