/**
 * This process among those that serve over its database, and what it does for all of them.
 * Owns which processes are beside others and who may lead what; the lease and its loop are in proxy/peers/.
 */
import { hostname } from 'node:os';
import pino from 'pino';
import type { Duty, PeerFacts } from '../../ports/proxy-peers.ts';
import type { ProxyLog } from '../../proxy/log.ts';
import { PeerLife } from '../../proxy/peers/peer-life.ts';
import { callIds } from '../../proxy/spend/call-id.ts';
import type { Store } from '../../store/open-store.ts';
import type { Environment } from '../config/effective-values.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { isHostBound } from '../sandboxes/hosted.ts';

type Beside = Pick<DeploymentConfig, 'store' | 'engine' | 'runtimeKind' | 'host'>;

/** Whether a duty is this process's at this moment. */
export type Leads = (duty: Duty) => boolean;

export interface PeerParts {
  readonly config: Beside;
  readonly kind: PeerFacts['kind'];
  readonly store: Pick<Store, 'proxyPeers' | 'leases'>;
  readonly clock: { now(): number };
  readonly log: ProxyLog;
}

/** Null: an engine that has its database alone has the only proxy over it, and every duty. */
export function peerOf({ config, kind, store, clock, log }: PeerParts): PeerLife | null {
  if (config.store.kind !== 'postgres' || config.engine.kind !== 'temporal') return null;
  return new PeerLife({
    ...{ peers: store.proxyPeers, leases: store.leases, clock, log },
    newId: callIds(() => clock.now()),
    facts: { kind, name: peerName(config.host.name) },
    duties: dutiesOf(config, kind),
  });
}

/** Of the proxy in a process of which it is a part. */
export function proxyLog(env: Environment): ProxyLog {
  return pino({ level: env['PARLEY_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));
}

export function leadsOf(peer: Pick<PeerLife, 'leads'> | null): Leads {
  return (duty) => peer?.leads(duty) ?? true;
}

export function peerName(host: string | null): string {
  return `${host ?? hostname()} (${process.pid})`;
}

/** A process that sees only its own host's sandboxes looks after them alone. One for a single run keeps no pool. */
function dutiesOf(config: Beside, kind: PeerFacts['kind']): readonly Duty[] {
  // It has neither a sandbox nor a proxy.
  if (kind === 'api') return [];
  const forAll: readonly Duty[] = ['lost_hosts', 'lost_workflows', 'spend_totals'];
  if (isHostBound(config)) return forAll;
  return [...forAll, 'sandboxes', ...(kind === 'worker' ? (['warm_pool'] as const) : [])];
}
