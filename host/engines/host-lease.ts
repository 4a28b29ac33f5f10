/**
 * The lease of this process on its host: taken before anything is carried out, and renewed as long as it serves.
 * Owns the rhythm and the end: a process that has lost its lease stops speaking for the host. A store that does not
 * answer is no reason: no process gets the host while anything lives on it, and this one goes on when it is back.
 */
import { hostname } from 'node:os';
import { ParleyError } from '../../core/parley-error.ts';
import { offerRoomTo } from '../../activities/offer-room.ts';
import type { World } from '../../activities/world.ts';
import type { HostLease, HostLeases, HostLookup, TakenLease } from '../../ports/host-leases.ts';
import { directoryId } from '../../store/engine/installation.ts';
import type { Closers } from '../closers.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Leads } from '../proxy/peer-of.ts';
import { programVersion } from '../program-version.ts';
import type { HostEngine } from './host-engine.ts';
import { watchHostLosses } from './host-losses.ts';

/** Renewals in the time of one lease: all but one may fail, and the host is still chosen. */
const RENEWALS = 6;
const NAME_MAX = 63;

/** @throws ParleyError engine_misconfigured when the name is another's */
export function takeHostLease(hosts: HostLeases, config: DeploymentConfig): Promise<TakenLease> {
  const { host, dataDir, runtimeKind, deployment } = config;
  return hosts.take({
    name: host.name,
    fallbackName: fallbackName(hostname()),
    directory: directoryId(dataDir),
    runtime: runtimeKind,
    capacity: host.capacity ?? deployment.capacity.installationMax,
    labels: host.labels,
    relay: host.relay?.address ?? null,
    version: programVersion(),
    leaseMs: host.leaseMs,
  });
}

/** Null: sandboxes are bound to no host. */
export function hostLookup(
  lease: HostLease | null,
  { hosts }: { readonly hosts: Pick<HostLeases, 'hostsOf'> },
): HostLookup | null {
  return lease === null ? null : { own: lease.name, of: (ids) => hosts.hostsOf(ids) };
}

/** The name of the machine, with the characters that the name of a queue may have. */
export function fallbackName(machine: string): string {
  const plain = machine.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return plain.slice(0, NAME_MAX) || 'host';
}

export interface Renewal {
  readonly hosts: Pick<HostLeases, 'renew'>;
  readonly lease: HostLease;
  readonly leaseMs: number;
  /** The lease is another's. */
  readonly onLost: (error: ParleyError) => void;
  /** The host began to take sandboxes again, or to drain. */
  readonly onDraining: (draining: boolean) => void;
}

export interface RenewedHost {
  /** Waits for a renewal that is under way. The lease runs on for its time. */
  stop(): Promise<void>;
}

/** To be called at once after the lease was taken. */
export function renewHostLease(renewal: Renewal): RenewedHost {
  const { hosts, lease, leaseMs, onLost, onDraining } = renewal;
  let wasDraining = false;
  let underWay: Promise<void> | null = null;
  const renew = async (): Promise<void> => {
    const { isHeld, draining } = await hosts.renew(lease, leaseMs);
    if (!isHeld) {
      clearInterval(timer);
      return onLost(lost(lease));
    }
    if (draining !== wasDraining) onDraining(draining);
    wasDraining = draining;
  };
  const beat = (): void => {
    // A store that is away for a while is reported by the other parts that need it.
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

function lost({ name }: HostLease): ParleyError {
  return new ParleyError(
    'host_lost',
    `Cannot go on as host "${name}": another process has its lease, or the other workers have given it up`,
    {
      remedy:
        'start it again with the same data directory: what lives there goes on; of a host that was given up, what is left is archived and removed',
    },
  );
}

interface Serving {
  readonly leads: Leads;
  readonly config: Pick<DeploymentConfig, 'host'>;
  readonly lease: TakenLease;
  readonly store: { readonly hosts: HostLeases };
  readonly world: World;
  readonly engine: Pick<HostEngine, 'notices'>;
  readonly closers: Closers;
  readonly onFailure: (error: ParleyError) => void;
  readonly onNotice: (text: string) => void;
}

/**
 * Holds the lease of a process that serves, until it closes, offers its room to what waits for a host, and gives up
 * other hosts whose worker is gone.
 * An orderly stop says so at once: nothing more is placed there, and what lives there waits for its data directory.
 */
export function serveHost({
  config,
  lease,
  leads,
  store,
  world,
  engine,
  closers,
  onFailure,
  onNotice,
}: Serving): void {
  const { hosts } = store;
  const { leaseMs, lostAfterMs } = config.host;
  // Never throws: the next slot that is freed offers it again.
  const offerRoom = (): void => void offerRoomTo(world).catch(() => undefined);
  const serving = renewHostLease({
    hosts,
    lease,
    leaseMs,
    onLost: onFailure,
    onDraining(draining) {
      const doing = draining ? 'drains: no sandbox is placed here any more' : 'takes sandboxes again';
      onNotice(`host ${lease.name} ${doing}`);
      if (!draining) offerRoom();
    },
  });
  closers.add(async () => {
    await serving.stop();
    // Without the store, the lease runs out by itself.
    await hosts.stop(lease).catch(() => undefined);
  });
  const { notices } = engine;
  const { steady } = world.clock;
  const losses = watchHostLosses({
    ...{ hosts, notices, lease, leaseMs, lostAfterMs, steady, onNotice },
    leads: () => leads('lost_hosts'),
  });
  closers.add(() => losses.stop());
  if (lease.wasLost === true)
    onNotice(`host ${lease.name} had been given up: what is left of its sandboxes is archived and removed`);
  offerRoom();
}
