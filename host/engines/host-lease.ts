/**
 * The lease of this process on its host: taken before anything is carried out, and renewed as long as it serves.
 * Owns the rhythm and the end: whoever cannot renew in time stops speaking for the host before others give it up. Its own
 * time is that of a steady clock, so that a clock that is set does nothing (D36).
 */
import { hostname } from 'node:os';
import { ParleyError } from '../../core/parley-error.ts';
import { offerRoomTo } from '../../activities/offer-room.ts';
import type { World } from '../../activities/world.ts';
import type { HostLease, HostLeases } from '../../ports/host-leases.ts';
import { directoryId } from '../../store/engine/installation.ts';
import type { Closers } from '../closers.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { programVersion } from '../program-version.ts';

/** Renewals in the time of one lease: so many may fail but one. */
const RENEWALS = 6;
const NAME_MAX = 63;

/** @throws ParleyError engine_misconfigured when the name is another's */
export function takeHostLease(hosts: HostLeases, config: DeploymentConfig): Promise<HostLease> {
  const { host, dataDir, runtimeKind, deployment } = config;
  return hosts.take({
    name: host.name,
    fallbackName: fallbackName(hostname()),
    directory: directoryId(dataDir),
    runtime: runtimeKind,
    capacity: host.capacity ?? deployment.capacity.installationMax,
    labels: host.labels,
    version: programVersion(),
    leaseMs: host.leaseMs,
  });
}

/** The name of the machine, as far as one of a queue may look like it. */
export function fallbackName(machine: string): string {
  const plain = machine.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return plain.slice(0, NAME_MAX) || 'host';
}

export interface Renewal {
  readonly hosts: Pick<HostLeases, 'renew'>;
  readonly lease: HostLease;
  readonly leaseMs: number;
  /** Milliseconds of a clock that nobody sets. */
  readonly steady: () => number;
  /** The lease is over. */
  readonly onLost: (error: ParleyError) => void;
  /** The host began to hand out, or to drain. */
  readonly onDraining: (draining: boolean) => void;
}

export interface RenewedHost {
  /** Waits for a renewal that is under way. The lease runs on for its time: a restart finds its sandboxes. */
  stop(): Promise<void>;
}

/** To be called at once after the lease was taken. */
export function renewHostLease(renewal: Renewal): RenewedHost {
  const { hosts, lease, leaseMs, steady, onLost, onDraining } = renewal;
  let renewedAt = steady();
  let wasDraining: boolean | null = null;
  let underWay: Promise<void> | null = null;
  const lose = (why: string): void => {
    clearInterval(timer);
    onLost(lost(lease, why));
  };
  const renew = async (): Promise<void> => {
    const askedAt = steady();
    const { isHeld, draining } = await hosts.renew(lease, leaseMs);
    if (!isHeld) return lose('another process took it, or it was given up');
    renewedAt = askedAt;
    if (draining !== (wasDraining ?? false)) onDraining(draining);
    wasDraining = draining;
  };
  const beat = (): void => {
    if (steady() - renewedAt >= leaseMs) return lose('it could not be renewed in time');
    // A store that is away for a while is told of by whatever else needs it.
    underWay ??= renew()
      .catch(() => undefined)
      .finally(() => (underWay = null));
  };
  const timer = setInterval(beat, leaseMs / RENEWALS);
  beat();
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

function lost({ name }: HostLease, why: string): ParleyError {
  return new ParleyError('host_lost', `Cannot go on as host "${name}": its lease is over: ${why}`, {
    remedy: 'start it again with the same data directory: what lives there goes on',
  });
}

interface Serving {
  readonly config: Pick<DeploymentConfig, 'host'>;
  readonly lease: HostLease;
  readonly store: { readonly hosts: Pick<HostLeases, 'renew'> };
  readonly world: World;
  readonly closers: Closers;
  readonly onFailure: (error: ParleyError) => void;
  readonly onNotice: (text: string) => void;
}

/** Holds the lease of a process that serves, until it closes, and tells whoever waits for a host that there is room. */
export function serveHost({ config, lease, store, world, closers, onFailure, onNotice }: Serving): void {
  // Never throws: the next slot that is freed offers it again.
  const offerRoom = (): void => void offerRoomTo(world).catch(() => undefined);
  const serving = renewHostLease({
    hosts: store.hosts,
    lease,
    leaseMs: config.host.leaseMs,
    steady: () => performance.now(),
    onLost: onFailure,
    onDraining(draining) {
      const doing = draining ? 'drains: no sandbox is placed here any more' : 'takes sandboxes again';
      onNotice(`host ${lease.name} ${doing}`);
      if (!draining) offerRoom();
    },
  });
  closers.add(() => serving.stop());
  offerRoom();
}
