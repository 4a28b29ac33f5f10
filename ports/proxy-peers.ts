/**
 * The processes with a proxy over one database, as each knows of the others.
 * Owns the interface; the time of a lease is the database's own, so that clocks of hosts need not agree.
 */

import type { ConfigurationStanding } from './shared-configuration.ts';

/** Work of all that one of them does at a time. */
export type Duty =
  /** Comparing what the runtime holds with the records, where every worker sees all sandboxes. */
  | 'sandboxes'
  /** Keeping the warm pool, likewise. */
  | 'warm_pool'
  /** Finding workflows that were ended from outside. */
  | 'lost_workflows'
  /** Notifying the sandboxes of hosts that were given up. */
  | 'lost_hosts'
  /** Folding old spend rows into daily totals. */
  | 'spend_totals';

/** The process that joins, for people. */
export interface PeerFacts {
  readonly kind: 'worker' | 'proxy' | 'run' | 'api';
  /** Distinguishes it from others of its kind: host and number of the process. */
  readonly name: string;
}

/** The answer to a process that renews its lease. */
export interface PeerNews {
  /** False when this process was given up meanwhile: it joins again under another id. */
  readonly isKnown: boolean;
  /** Grows when a key or a model was changed by any of them. */
  readonly revision: number;
  /** Processes whose lease is over. */
  readonly expired: readonly string[];
  /** The newest version of the shared configuration; 0 when there is none. */
  readonly configuration: number;
  /** Of the requested duties: those that are this process's until its lease is over. */
  readonly leads: readonly Duty[];
}

/** A process that serves, as operators see it. */
export interface ServingPeer extends PeerFacts {
  readonly leads: readonly Duty[];
  readonly configuration: ConfigurationStanding;
}

/** The processes that serve over the database. */
export interface ProxyPeers {
  /** True when no other proxy serves; an API has none. @throws ParleyError store_unavailable */
  join(id: string, leaseMs: number, facts: PeerFacts): Promise<boolean>;
  /**
   * Renews the lease, reports the standing, and takes each duty that no process with a running lease has: what one has,
   * no other gets until that one has left or its lease is over. @throws ParleyError store_unavailable
   */
  beat(
    id: string,
    leaseMs: number,
    duties: readonly Duty[],
    configuration?: ConfigurationStanding,
  ): Promise<PeerNews>;
  /**
   * Gives up a process that is dead or leaves: its open rows become `interrupted`, what its calls have not used of shared
   * limits goes back, and its duties are free. A repeat changes nothing. @throws ParleyError store_unavailable
   */
  retire(id: string, at: number): Promise<void>;
  /** Notifies every proxy that a key or a model has changed. @throws ParleyError store_unavailable */
  announce(): Promise<void>;
  /** Those whose lease runs, by kind and name. */
  serving(): Promise<readonly ServingPeer[]>;
}
