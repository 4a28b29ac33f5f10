/**
 * Gives up hosts whose worker is gone, and notifies the sandboxes that lived there; empties its own on request (D33).
 * Owns the patience: a host is given up only when its lease has been over for the bound, and this process has seen it
 * silent for one lease more, without a gap. A database that was away for hours makes every lease old at once; a living
 * host has renewed its own by then. The store ensures that only one of many workers gives a host up.
 */
import type { SandboxId } from '../../core/ids.ts';
import type { SandboxEvent } from '../../core/sandbox/message.ts';
import { instant } from '../../core/text/amounts.ts';
import type { HostLease, HostLeases, LeasedHost } from '../../ports/host-leases.ts';
import type { Notifier } from '../../ports/notifier.ts';

/** Sweeps in the time of one lease: a silent host is seen more than once before its end. */
const SWEEPS = 2;
/** Of one sweep; the next one notifies those that are left. */
const TOLD_MAX = 1_000;
/** An archive that failed is tried again after this. */
const AGAIN_MS = 600_000;

export interface HostLossWatch {
  readonly hosts: Pick<HostLeases, 'list' | 'giveUp' | 'lostSandboxes' | 'releasedOn'>;
  readonly notices: Notifier;
  /** Whether this process notifies the sandboxes of lost hosts: of many, one does. */
  readonly leads: () => boolean;
  readonly lease: HostLease;
  readonly leaseMs: number;
  readonly lostAfterMs: number;
  /** Milliseconds of a clock that is never set. */
  readonly steady: () => number;
  readonly onNotice: (text: string) => void;
}

export interface HostLosses {
  sweep(): Promise<void>;
  /** Resolves once no sweep is under way. */
  stop(): Promise<void>;
}

interface Sighting {
  readonly fence: number;
  readonly leaseUntil: number;
  readonly since: number;
}

export function watchHostLosses(watch: HostLossWatch): HostLosses {
  let sightings: ReadonlyMap<string, Sighting> = new Map();
  let told: ReadonlyMap<SandboxId, number> = new Map();
  let underWay: Promise<void> | null = null;
  const sweepOnce = async (): Promise<void> => {
    try {
      const hosts = await watch.hosts.list();
      sightings = await giveUpSilent(watch, hosts, sightings);
      if (watch.leads()) await tellLost(watch);
      told = await archiveReleased(watch, hosts, told);
    } catch {
      // Other parts that need the store report it; what was seen before is no evidence any more.
      sightings = new Map();
    }
  };
  const sweep = (): Promise<void> => {
    underWay ??= sweepOnce().finally(() => (underWay = null));
    return underWay;
  };
  const timer = setInterval(() => void sweep(), watch.leaseMs / SWEEPS);
  void sweep();
  return {
    sweep,
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

async function giveUpSilent(
  watch: HostLossWatch,
  hosts: readonly LeasedHost[],
  before: ReadonlyMap<string, Sighting>,
): Promise<ReadonlyMap<string, Sighting>> {
  const now = watch.steady();
  const seen = new Map<string, Sighting>();
  for (const host of hosts) {
    if (host.isLive || host.ended !== null || host.name === watch.lease.name) continue;
    const sighting = seenAgain(before.get(host.name), host, now);
    seen.set(host.name, sighting);
    if (now - sighting.since >= patienceMs(watch, host)) await giveUp(watch, host);
  }
  return seen;
}

/** A renewal in between, or another holder, begins the wait anew. */
function seenAgain(before: Sighting | undefined, { fence, leaseUntil }: LeasedHost, now: number): Sighting {
  const isSame = before?.fence === fence && before.leaseUntil === leaseUntil;
  return isSame ? before : { fence, leaseUntil, since: now };
}

/** It renews its lease several times in this: its own lease may be a longer one than ours. */
function patienceMs({ leaseMs }: HostLossWatch, { leaseUntil, heartbeatAt }: LeasedHost): number {
  return Math.max(leaseMs, leaseUntil - heartbeatAt);
}

async function giveUp({ hosts, lostAfterMs, onNotice }: HostLossWatch, host: LeasedHost): Promise<void> {
  const { name, fence, heartbeatAt } = host;
  const lost = await hosts.giveUp({ name, fence, silentMs: lostAfterMs });
  if (lost === null) return;
  const since = `nothing was heard of it since ${instant(heartbeatAt)}`;
  onNotice(
    `host ${name} was given up: its worker is gone, and with it ${lost} sandboxes; ${since}. ${WHAT_FOLLOWS}`,
  );
}

const WHAT_FOLLOWS =
  'They become MISSING, their conversations can only be read, and items of runs begin again elsewhere';

/** Again with every sweep until each is MISSING: one may not have been created when it was first notified. */
async function tellLost(watch: HostLossWatch): Promise<void> {
  for (const { sandboxId: id } of await watch.hosts.lostSandboxes(TOLD_MAX))
    await tell(watch, id, { type: 'hostLost' });
}

/** One that cannot be notified does not hold up others; a later sweep tries again. @returns whether it was notified */
async function tell({ notices }: HostLossWatch, id: SandboxId, event: SandboxEvent): Promise<boolean> {
  return await notices.deliver({ to: { machine: 'sandbox', id }, event }).then(
    () => true,
    () => false,
  );
}

/**
 * Of the own host, while it drains and this is requested. One that is resumed meanwhile takes no notice; one whose
 * archive fails is notified again later.
 * @returns which were notified, and when
 */
async function archiveReleased(
  watch: HostLossWatch,
  listed: readonly LeasedHost[],
  before: ReadonlyMap<SandboxId, number>,
): Promise<ReadonlyMap<SandboxId, number>> {
  const { hosts, lease, steady } = watch;
  const own = listed.find(({ name, fence }) => name === lease.name && fence === lease.fence);
  if (own?.archivesReleased !== true) return new Map();
  const told = new Map<SandboxId, number>();
  for (const id of await hosts.releasedOn(lease.name, TOLD_MAX)) {
    const at = before.get(id) ?? -Infinity;
    const isDue = steady() - at >= AGAIN_MS;
    const event = { type: 'deleteRequested', requestId: `drained/${id}`, onlyReleased: true } as const;
    const isTold = isDue && (await tell(watch, id, event));
    if (isTold || !isDue) told.set(id, isTold ? steady() : at);
  }
  return told;
}
