/**
 * Where the proxy's spend rows live.
 * Owns the interface; the proxy writes off its hot path, reports read.
 */
import type { SpendLoss } from '../core/money/spend-loss.ts';
import type { JoinableCall, SpendRow } from '../core/money/spend.ts';

/** Every field narrows. */
export interface SpendQuery {
  /** Half-open interval over `startedAt`, epoch milliseconds. */
  readonly from?: number;
  readonly to?: number;
  readonly sessionId?: string;
  /** The name the caller used. */
  readonly model?: string;
  readonly keyName?: string;
  readonly user?: string;
  readonly team?: string;
  /** Rows that carry this tag. */
  readonly tag?: string;
  /** Top-level members of the spend metadata with exactly these texts; numbers and booleans count as their text. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** `callId` of the last row of the previous page, in (startedAt, callId) order. */
  readonly after?: { readonly startedAt: number; readonly callId: string };
  /** 1..1000, default 1000. */
  readonly limit?: number;
}

/** One page of calls in the order of their begin. */
export type CallPage = Pick<SpendQuery, 'from' | 'to' | 'after' | 'limit'>;

/** Rows of calls, written in lists and read in pages. */
export interface SpendLog {
  /**
   * Writes rows, idempotent by `callId`: a closed state is never replaced by `open`.
   * @throws ParleyError store_unavailable; the caller keeps the rows and tries again.
   */
  write(rows: readonly SpendRow[]): Promise<void>;
  /** Of these calls those that have no row. */
  missing(callIds: readonly string[]): Promise<readonly string[]>;
  /** Remembers that rows were lost; the same loss, by its first and last call, is remembered once. */
  noteLoss(loss: SpendLoss): Promise<void>;
  /** Every loss that was seen, in the order of its first call. */
  losses(): Promise<readonly SpendLoss[]>;
  /** Rows in (startedAt, callId) order. */
  search(query: SpendQuery): Promise<readonly SpendRow[]>;
  /**
   * A page of calls within an interval, in the same order, with no more of each than joining needs. The list belongs
   * to the caller, which empties it after use: there may be a thousand pages.
   */
  joinable(page: CallPage): Promise<JoinableCall[]>;
  /**
   * Marks every row still open as `interrupted`, but those of other proxies that serve; called once before a proxy starts
   * to serve (D26). Returns how many.
   */
  interruptOpen(at: number): Promise<number>;
}
