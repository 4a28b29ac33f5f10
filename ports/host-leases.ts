/**
 * The hosts on which sandboxes live, and which worker may act for each (D33).
 * Owns the interface. A lease is measured by the clock of the store alone: clocks of hosts are never compared.
 */
import type { SandboxId } from '../core/ids.ts';
import type { HostCandidate, HostLabels } from '../core/placement/choose-host.ts';

/** What a worker says of its host. */
export interface HostFacts {
  readonly runtime: string;
  /** Sandboxes with the runtime up, at most. */
  readonly capacity: number;
  readonly labels: HostLabels;
  /** `HOST:PORT` where its worker lets other processes reach the agents there; null: it lets none. */
  readonly relay: string | null;
  /** Of the program. */
  readonly version: string;
}

/** What a worker sends to take the lease of a host, and for how long. */
export interface HostClaim extends HostFacts {
  /** As the deployment names it; null: as the directory was called before, else `fallbackName`. */
  readonly name: string | null;
  readonly fallbackName: string;
  /** Names the data directory in which its sandboxes lie, and moves with it. */
  readonly directory: string;
  readonly leaseMs: number;
}

/** The right to act for a host, until it runs out or another worker takes it. */
export interface HostLease {
  readonly name: string;
  /** Grows with every lease of the host: a lower one is over (D14). */
  readonly fence: number;
}

/** A lease as it is taken. */
export interface TakenLease extends HostLease {
  /** Other workers had given the host up: what lived there is lost, and what is left of it is to be removed. */
  readonly wasLost?: true;
}

/** Where sandboxes live, as one worker queries it (D33). */
export interface HostLookup {
  /** The name of this worker's. */
  readonly own: string;
  /** Of those that live on a host. */
  of(ids: readonly SandboxId[]): Promise<ReadonlyMap<SandboxId, string>>;
}

/** How a sandbox of another host is reached. */
export interface HostWay {
  readonly host: string;
  /** As `HostFacts.relay`. */
  readonly relay: string | null;
}

/** Of a host that was given up. */
export interface LostSandbox {
  readonly sandboxId: SandboxId;
  readonly host: string;
}

/** The answer to a renewal. */
export interface RenewedLease {
  /** False: the lease is over, and what lives on the host is not its holder's any more. */
  readonly isHeld: boolean;
  readonly draining: boolean;
}

/** A host as operators see it. */
export interface LeasedHost extends HostFacts, HostCandidate {
  readonly fence: number;
  /** Epoch milliseconds by the store's clock, of the latest sign of life. */
  readonly heartbeatAt: number;
  readonly leaseUntil: number;
  /** How its latest lease came to its end; null while it runs, or has run out. */
  readonly ended: 'stopped' | 'lost' | null;
  /** It drains, and what was released on it is archived and removed. */
  readonly archivesReleased: boolean;
  /** Sandboxes of it that are not `MISSING`, nor lost. */
  readonly sandboxes: number;
  /** Those that were lost with it and are not `MISSING` yet. */
  readonly lost: number;
}

/** Leases of hosts, with fences. */
export interface HostLeases {
  /**
   * Takes the lease of a host, and ends the one before. The same directory gets it at any time: its lock keeps processes
   * apart. A name that another directory has is given only when that one's lease is over and nothing of it lives.
   * @throws ParleyError engine_misconfigured
   */
  take(claim: HostClaim): Promise<TakenLease>;
  /** For `leaseMs` from now on. */
  renew(lease: HostLease, leaseMs: number): Promise<RenewedLease>;
  /** Its worker stops in order: the lease is over at once, and what lives there waits for its directory. Idempotent. */
  stop(lease: HostLease): Promise<void>;
  /**
   * Ends the lease of a host for its worker too, and marks what lives there as lost: its fence is refused from then on.
   * Only one whose lease has been over for `silentMs`, and that was not given up already; one that has stopped in order
   * only when that is said. Atomic: of many callers, one gets how many sandboxes are lost; null for the others.
   */
  giveUp(
    loss: HostLease & { readonly silentMs: number; readonly alsoStopped?: boolean },
  ): Promise<number | null>;
  /** Of hosts that were given up, until each is `MISSING`; the oldest first, and at most `max`. */
  lostSandboxes(max: number): Promise<readonly LostSandbox[]>;
  /** By name. */
  list(): Promise<readonly LeasedHost[]>;
  /**
   * Whether it gives out new sandboxes, and what becomes of those that were released there: kept unless that is said.
   * False: there is no such host. Idempotent.
   */
  drain(name: string, draining: boolean, options?: { readonly archivesReleased?: boolean }): Promise<boolean>;
  /** Released ones of a host, at most `max`. */
  releasedOn(name: string, max: number): Promise<readonly SandboxId[]>;
  /** Where each lives; one that is bound to no host, `MISSING` or unknown is left out. */
  hostsOf(ids: readonly SandboxId[]): Promise<ReadonlyMap<SandboxId, string>>;
  /** To where one lives; null where `hostsOf` leaves it out. */
  wayTo(id: SandboxId): Promise<HostWay | null>;
}
