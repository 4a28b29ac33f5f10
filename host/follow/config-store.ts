/**
 * The store of a deployment, opened as its configuration says.
 * Owns the choice between SQLite and PostgreSQL, and whose lock keeps two engines apart; every command opens it here.
 */
import { statSync } from 'node:fs';
import { ParleyError } from '../../core/parley-error.ts';
import type { FenceOptions } from '../../store/engine/engine-fence.ts';
import type { Store, StoreOptions } from '../../store/open-store.ts';
import type { PoolUse, PostgresServer } from '../../store/sql/postgres-pool.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { ensurePrivateDirectory } from '../../store/private-files.ts';
import { placesOf } from '../sandboxes/places.ts';

type Deployed = Pick<DeploymentConfig, 'store' | 'dataDir'>;

/** How the server lists connections that no engine has. */
const BESIDE = 'parley';

/**
 * Whether anything may have been stored yet; a server is not queried for it.
 * @throws the file system's error where this cannot be read: a folder that may not be read is not an empty one
 */
export function hasStore({ store, dataDir }: Deployed): boolean {
  return (
    store.kind === 'postgres' || statSync(placesOf(dataDir).database, { throwIfNoEntry: false }) !== undefined
  );
}

/** Beside an engine or without one. @throws ParleyError store_unavailable */
export async function openDeployedStore({ store, dataDir }: Deployed): Promise<Store> {
  switch (store.kind) {
    case 'sqlite':
      ensurePrivateDirectory(dataDir);
      return await openStore({ kind: 'sqlite', path: placesOf(dataDir).database });
    case 'postgres':
      return await openOnServer(store.server, { readOnly: false, name: BESIDE });
  }
}

/**
 * Null when nothing was ever stored, also in the moment in which an engine makes the very first tables.
 * @throws ParleyError store_unavailable
 */
export async function readDeployedStore(deployed: Deployed): Promise<Store | null> {
  if (!hasStore(deployed)) return null;
  const { isEmptyStore } = await import('../../store/schema/migrate.ts');
  return await openToRead(deployed).catch((error: unknown) => {
    if (isEmptyStore(error)) return null;
    throw error;
  });
}

async function openToRead({ store, dataDir }: Deployed): Promise<Store> {
  switch (store.kind) {
    case 'sqlite':
      return await openStore({ kind: 'sqlite', path: placesOf(dataDir).database, readOnly: true });
    case 'postgres':
      return await openOnServer(store.server, { readOnly: true, name: BESIDE });
  }
}

export interface EngineStoreOptions {
  /** False for an engine that shares the database: its server orders what several do. */
  readonly isAlone: boolean;
  /** The database belongs to another engine now, or does not come back. */
  onLost(error: ParleyError): void;
  /** The database is older than what the latest engine of this data directory stored. */
  onOlder?(): void;
}

export interface OwnedStore {
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * For an engine, which has its data directory already.
 * @throws ParleyError data_directory_locked when another engine has the database; store_unavailable
 */
export async function openEngineStore(
  { store, dataDir }: Deployed,
  options: EngineStoreOptions,
): Promise<OwnedStore> {
  switch (store.kind) {
    case 'sqlite': {
      const fence = { ...options, noteIn: dataDir };
      const opened = await openStore({ kind: 'sqlite', path: placesOf(dataDir).database, fence });
      return { store: opened, close: () => opened.close() };
    }
    case 'postgres':
      return await openGuardedStore(store.server, { ...options, noteIn: dataDir });
  }
}

/** The database, or its schema, held for this process. @throws as openEngineStore */
export async function openGuardedStore(
  server: PostgresServer,
  { isAlone, ...fence }: EngineStoreOptions & FenceOptions,
): Promise<OwnedStore> {
  const { guardDatabase } = await import('../../store/sql/database-guard.ts');
  const guard = await guardDatabase(server, {
    mode: isAlone ? 'alone' : 'shared',
    onLost: (error) => fence.onLost(error),
  });
  try {
    const store = await openOnServer(server, guard.use, isAlone ? fence : undefined);
    const close = async (): Promise<void> => {
      await store.close();
      await guard.release();
    };
    return { store, close };
  } catch (error) {
    await guard.release();
    throw error;
  }
}

/** Loaded on demand: many commands only check whether there is a store. */
async function openStore(options: StoreOptions): Promise<Store> {
  const store = await import('../../store/open-store.ts');
  return await store.openStore(options);
}

/** The driver is loaded only here: it is of no use to a deployment on SQLite. */
async function openOnServer(server: PostgresServer, use: PoolUse, fence?: FenceOptions): Promise<Store> {
  const { createPostgresPool } = await import('../../store/sql/postgres-pool.ts');
  const { notificationChannel } = await import('../../store/sql/notification-channel.ts');
  const { EVENT_CHANNEL } = await import('../../store/records/event-news.ts');
  const pool = createPostgresPool(server, use);
  if (use.readOnly) return await openStore({ kind: 'postgres', pool, readOnly: true });
  const unbounded = { ...server, statementTimeoutMs: 0, poolMax: 1 };
  const migrationPool = createPostgresPool(unbounded, { readOnly: false, name: `${BESIDE} migration` });
  const channel = notificationChannel(server, EVENT_CHANNEL);
  return await openStore({ kind: 'postgres', pool, migrationPool, schema: server.schema, fence, channel });
}

/** The database of an engine is not the data directory: there is no owner to send requests to. */
export function isDatabaseTaken(error: unknown): boolean {
  return error instanceof ParleyError && 'database' in error.details;
}
