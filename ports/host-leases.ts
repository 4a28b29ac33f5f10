/**
 * The hosts on which sandboxes live, and who may speak for each (D33).
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
  /** Of the program. */
  readonly version: string;
}

/** Who asks for the lease of which host, and for how long. */
export interface HostClaim extends HostFacts {
  /** As the deployment names it; null: as the directory was called before, else `fallbackName`. */
  readonly name: string | null;
  readonly fallbackName: string;
  /** Names the data directory in which its sandboxes lie, and moves with it. */
  readonly directory: string;
  readonly leaseMs: number;
}

/** The right to speak for a host, until it runs out or another takes it. */
export interface HostLease {
  readonly name: string;
  /** Grows with every lease of the host: a lower one is over (D14). */
  readonly fence: number;
}

/** What a holder learns with each renewal. */
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
  /** Sandboxes of it that are not `MISSING`. */
  readonly sandboxes: number;
}

/** Leases of hosts, with fences. */
export interface HostLeases {
  /**
   * Takes the lease of a host, and ends the one before. The same directory gets it at any time: its lock keeps processes
   * apart. A name that another directory has is given only when that one's lease is over and nothing of it lives.
   * @throws ParleyError engine_misconfigured
   */
  take(claim: HostClaim): Promise<HostLease>;
  /** For `leaseMs` from now on. */
  renew(lease: HostLease, leaseMs: number): Promise<RenewedLease>;
  /** By name. */
  list(): Promise<readonly LeasedHost[]>;
  /** Whether it hands out sandboxes. False: there is no such host. Idempotent. */
  drain(name: string, draining: boolean): Promise<boolean>;
  /** Where each lives; one that is bound to no host, or unknown, is left out. */
  hostsOf(ids: readonly SandboxId[]): Promise<ReadonlyMap<SandboxId, string>>;
}
