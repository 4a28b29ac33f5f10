/**
 * The proxies that serve over one database, as each knows of the others.
 * Owns the interface; the time of a lease is the database's own, so that clocks of hosts need not agree.
 */

/** What a proxy learns when it renews its lease. */
export interface PeerNews {
  /** False when this proxy was given up meanwhile: it joins again under another id. */
  readonly isKnown: boolean;
  /** Grows when a key or a model was changed by any of them. */
  readonly revision: number;
  /** Proxies whose lease is over. */
  readonly expired: readonly string[];
}

/** Who serves over the database. */
export interface ProxyPeers {
  /** True when no other proxy serves. @throws ParleyError store_unavailable */
  join(id: string, leaseMs: number): Promise<boolean>;
  /** Renews the lease. @throws ParleyError store_unavailable */
  beat(id: string, leaseMs: number): Promise<PeerNews>;
  /**
   * Gives up a proxy that is dead: its open rows become `interrupted`, and what its calls have not used of shared limits
   * goes back. A repeat changes nothing. @throws ParleyError store_unavailable
   */
  retire(id: string, at: number): Promise<void>;
  /** Tells every proxy that a key or a model has changed. @throws ParleyError store_unavailable */
  announce(): Promise<void>;
}
