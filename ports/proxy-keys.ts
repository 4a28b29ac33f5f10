/**
 * Virtual keys of the proxy, at rest.
 * Owns the interface and the record; a key itself is never in it, only its SHA-256.
 */

/** A key of the proxy, without its value. */
export interface ProxyKeyRecord {
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
  /** Unique; stands in spend rows as `keyName`. */
  readonly name: string;
  /** Last characters of the key, so that a person recognises it. */
  readonly tail: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; null never expires. */
  readonly expiresAt: number | null;
  readonly team: string | null;
  readonly userId: string | null;
  /** Model names it may use; null for all. */
  readonly models: readonly string[] | null;
  /** Requests a minute; null without bound. */
  readonly rpm: number | null;
  /** Tokens a minute; null without bound. */
  readonly tpm: number | null;
  /** Calls at one time; null without bound. */
  readonly parallelMax: number | null;
  /** Integer nano-USD; null without bound. */
  readonly budgetNanoUsd: number | null;
  /** The budget is for each window of this length since `createdAt`; null for the whole life of the key. */
  readonly budgetWindowMs: number | null;
  /** On every row of the key. */
  readonly tags: readonly string[];
  /** Under every row's metadata; the caller's own wins. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly isBlocked: boolean;
}

/** Where the virtual keys of the proxy are kept, by the hash of their text. */
export interface ProxyKeyStore {
  /**
   * Adds the record, or replaces the one of the same hash.
   * @throws ParleyError store_conflict when another key has the name
   * @throws ParleyError store_unavailable
   */
  put(record: ProxyKeyRecord): Promise<void>;
  find(hash: string): Promise<ProxyKeyRecord | null>;
  /** In the order of creation, then of name. */
  list(): Promise<readonly ProxyKeyRecord[]>;
  /** In the order of names, behind `afterName`. `limit` 1..101; letters of ASCII match in either case. */
  page(page: {
    readonly afterName: string | null;
    readonly nameContains: string;
    readonly limit: number;
  }): Promise<readonly ProxyKeyRecord[]>;
  /** Whether there was one. */
  remove(hash: string): Promise<boolean>;
}
