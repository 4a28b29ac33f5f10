/**
 * Limits that several proxies share: each uses a prepaid share by itself, and gives back what it did not use (D30).
 * Owns the interface; the amounts of one account are in one unit, and their division is `core/money/lease.ts`.
 */

/** What a limit counts; money of a run and of a key are separate, because a dead proxy's rows are summed by either. */
export type LeaseUnit = 'run_nano_usd' | 'key_nano_usd' | 'requests' | 'tokens' | 'calls';

/** One limit in one window of it. */
export interface LeaseAccount {
  readonly unit: LeaseUnit;
  /** Id of the run, or name of the key. */
  readonly owner: string;
  /** Epoch milliseconds at which the window began; 0 for no windows. */
  readonly windowFrom: number;
}

/** What a proxy reports of an account, and what it requests. */
export interface LeaseExchange {
  readonly account: LeaseAccount;
  /** The proxy, as it joined. */
  readonly holder: string;
  readonly limit: number;
  /** What was used before any proxy shared it; null while that is not known, which is requested once. */
  readonly earlier: number | null;
  /** What the holder used since its last exchange. */
  readonly charged: number;
  readonly held: number;
  readonly inFlight: number;
  /** As in `LeaseAsk`. */
  readonly least: number | null;
  readonly isOwnBound: boolean;
  readonly surplus: number;
}

/** How the account stands after an exchange. */
export type LeaseAnswer =
  | {
      readonly kind: 'standing';
      /** What the holder may use from now on, what it holds included. */
      readonly granted: number;
      readonly spent: number;
      /** What the other holders may still use. */
      readonly others: number;
      /** Another holder waits: all that is not held goes back with the next exchange. */
      readonly isWanted: boolean;
    }
  /** No proxy has used the account: report in `earlier` what was used before. */
  | { readonly kind: 'unknown' }
  /** The holder was given up: its share went back, and it goes on under another name. */
  | { readonly kind: 'lost' };

/** Shares of limits. */
export interface SpendLeases {
  /**
   * Reports what was used, and takes, keeps or gives back a share, in one transaction.
   * @throws ParleyError store_unavailable when nothing of it was applied
   */
  exchange(exchange: LeaseExchange): Promise<LeaseAnswer>;
  /**
   * Counts the rows of a holder that was given up: what it had not reported is in them. A repeat, such as after more of
   * its rows have come, counts each row once.
   * @throws ParleyError store_unavailable
   */
  settle(holder: string): Promise<void>;
}
