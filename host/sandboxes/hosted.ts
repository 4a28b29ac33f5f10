/**
 * Whether sandboxes are bound to the hosts on which they live, and what placement has to know then (D33).
 * Owns the condition; must not open anything.
 */
import type { HostPolicy } from '../../core/placement/choose-host.ts';
import type { WarmPool } from '../../ports/warm-pool.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';

type Binding = Pick<DeploymentConfig, 'engine' | 'store' | 'runtimeKind'>;

/** A file of SQLite has one process, and so has the embedded engine; a pod is reached from everywhere. */
export function isHostBound({ engine, store, runtimeKind }: Binding): boolean {
  return engine.kind === 'temporal' && store.kind === 'postgres' && runtimeKind !== 'kubernetes';
}

/** The same deployment, in which placement chooses a host for every sandbox where there are any. */
export function hosted(config: DeploymentConfig): DeploymentConfig {
  const { deployment, runtimeKind: runtime, host } = config;
  const hosts: HostPolicy | undefined = isHostBound(config)
    ? { runtime, strategy: host.strategy }
    : undefined;
  return { ...config, deployment: { ...deployment, capacity: { ...deployment.capacity, hosts } } };
}

/** The warm pool of one host: each keeps its own, and no placement claims one that is up elsewhere. */
export function warmPoolOfHost(warmPool: WarmPool, host: string | undefined): WarmPool {
  if (host === undefined) return warmPool;
  return {
    ...warmPool,
    held: () => warmPool.held(host),
    usable: (use) => warmPool.usable({ ...use, host }),
    reserve: (request) => warmPool.reserve({ ...request, host }),
  };
}
