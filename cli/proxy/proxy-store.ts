/**
 * The store of a proxy that is a process of its own: keys and spend, apart from those of an engine.
 * Owns where it is: a file of its own on SQLite, a schema of its own on PostgreSQL.
 */
import path from 'node:path';
import type { Store } from '../../store/open-store.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';

/** Beside the tables of an engine in the same database. */
const SCHEMA = 'parley_proxy';

export interface ProxyStore {
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * Budgets are counted in memory: two proxies over the same keys would both spend them.
 * @throws ParleyError store_unavailable; data_directory_locked when another proxy has that schema
 */
export async function openProxyStore(
  { store }: Pick<DeploymentConfig, 'store'>,
  { dataDir, onLost }: { readonly dataDir: string; onLost(error: Error): void },
): Promise<ProxyStore> {
  const { openStore } = await import('../../store/open-store.ts');
  if (store.kind !== 'postgres') {
    const opened = await openStore({
      kind: 'sqlite',
      path: path.join(dataDir, 'proxy.db'),
      fence: { onLost },
    });
    return { store: opened, close: () => opened.close() };
  }
  const { openGuardedStore } = await import('../host/config-store.ts');
  return await openGuardedStore({ ...store.server, schema: SCHEMA }, { isAlone: true, onLost });
}
