/**
 * Opens the one SQL store, in either dialect.
 * Owns the wiring of its parts; each part is a file of its own and knows only the connection.
 */
import { existsSync } from 'node:fs';
import { ParleyError } from '../core/parley-error.ts';
import { activityStore } from './records/activity-store.ts';
import { rateMeter } from './access/rate-meter.ts';
import { apiKeyStore } from './access/api-key-store.ts';
import { auditLog } from './access/audit-log.ts';
import { configurationStore } from './records/configuration-store.ts';
import { documentStore } from './records/document-store.ts';
import { eventSearch } from './records/event-search.ts';
import { recordSearch } from './records/record-search.ts';
import { startTaskStore } from './records/start-task-store.ts';
import { archiveStore } from './blobs/archive-store.ts';
import { fail, storeConnection, type StoreConnection } from './sql/connection.ts';
import { raiseFence, type EngineFence, type FenceOptions } from './engine/engine-fence.ts';
import { engineStore } from './engine/engine-store.ts';
import { eventLog } from './records/event-log.ts';
import { eventNews, NO_NEWS, type EventNews } from './records/event-news.ts';
import { notifiedWakes, polledWakes, type ClosableWakes } from './records/event-wakes.ts';
import { idempotencyKeyStore } from './access/idempotency-key-store.ts';
import { installation } from './engine/installation.ts';
import { journalUpkeep } from './engine/journal.ts';
import { lifecycleLog } from './records/lifecycle-log.ts';
import { overview } from './records/overview.ts';
import { migrate, migrateInMemory, requireCurrent } from './schema/migrate.ts';
import { MIGRATIONS } from './schema/migrations.ts';
import { hostStore } from './placement/host-store.ts';
import { placementStore } from './placement/placement-store.ts';
import { planStore } from './engine/plan-store.ts';
import type { NotificationChannel } from './sql/notification-channel.ts';
import { openPostgres, requireUsableServer, type StorePool } from './sql/postgres.ts';
import { proxyKeyStore } from './spend/proxy-key-store.ts';
import { recordStore } from './records/record-store.ts';
import type { SealKey } from './access/seal-key.ts';
import { secretVault, type VaultOptions } from './access/secret-vault.ts';
import { proxyPeers } from './spend/proxy-peers.ts';
import { spendAccounts } from './spend/spend-accounts.ts';
import { spendLeases } from './spend/spend-leases.ts';
import { spendLog } from './spend/spend-log.ts';
import { IN_MEMORY, openSqlite, type SqliteHandle, type SqliteOptions } from './sql/sqlite.ts';
import { troubleStore } from './records/trouble-store.ts';
import { warmPoolStore } from './placement/warm-pool-store.ts';
import { workspaceStore } from './records/workspace-store.ts';

/** Which database, and how it is reached. */
export type StoreOptions =
  | ({ readonly kind: 'sqlite'; readonly path: string } & SqliteStoreOptions)
  | ({ readonly kind: 'postgres'; readonly pool: StorePool } & PostgresStoreOptions);

interface SqliteStoreOptions {
  readonly readOnly?: boolean;
  /** For an engine that has the database alone: the ones before it store nothing from then on. */
  readonly fence?: FenceOptions | undefined;
  /** False gives every write a commit and a sync of its own, for comparison. */
  readonly groupWrites?: boolean;
  /** Called after every commit that changed something or might have. */
  readonly onCommit?: () => void;
}

interface PostgresStoreOptions {
  readonly readOnly?: boolean;
  /** As on SQLite. */
  readonly fence?: FenceOptions | undefined;
  /** Without a time limit, for migrations, which take as long as there are rows; it is ended. */
  readonly migrationPool?: StorePool;
  /** Made when it is missing. */
  readonly schema?: string | null;
  /** Wakes who follows transcripts; without one they look by themselves. It is closed with the store. */
  readonly channel?: NotificationChannel | undefined;
}

/** All parts of one open database. */
export type Store = ReturnType<typeof parts>;

/**
 * Opens the store and brings its schema to this program's version.
 * With `readOnly` nothing is created or migrated, every write fails, and another process may write meanwhile.
 * @throws ParleyError store_unavailable when the file or server cannot be opened, the schema is newer than the program,
 *   or, with `readOnly`, there is no file or its schema is not this program's
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  switch (options.kind) {
    case 'sqlite':
      return openSqliteStore(options.path, options);
    case 'postgres':
      return openPostgresStore(options.pool, options);
  }
}

async function openPostgresStore(pool: StorePool, options: PostgresStoreOptions): Promise<Store> {
  const { readOnly = false, migrationPool, schema = null } = options;
  const db = openPostgres(pool);
  const migrated = migrationPool === undefined ? db : openPostgres(migrationPool);
  let fence: EngineFence | undefined;
  try {
    await requireUsableServer(migrated);
    if (schema !== null && !readOnly) await migrated.schema.createSchema(schema).ifNotExists().execute();
    await (readOnly ? requireCurrent(db, MIGRATIONS) : migrate(migrated, MIGRATIONS));
    if (options.fence !== undefined) fence = await raiseFence(db, 'postgres', options.fence);
  } catch (error) {
    await db.destroy();
    return fail('open the store', error);
  } finally {
    if (migrated !== db) await migrated.destroy();
  }
  const connection = storeConnection(db, { dialect: 'postgres', groupWrites: false, fence });
  const { channel } = options;
  return parts(connection, {
    news: readOnly ? NO_NEWS : eventNews(connection),
    wakes: channel === undefined ? polledWakes() : notifiedWakes(connection, channel),
    close: () => db.destroy(),
  });
}

async function openSqliteStore(path: string, options: SqliteStoreOptions): Promise<Store> {
  const { readOnly = false, groupWrites = true } = options;
  if (readOnly && !existsSync(path)) {
    throw new ParleyError('store_unavailable', `Cannot open the store "${path}": there is no such file`);
  }
  const handle = openFile(path, { ...options, readOnly });
  let fence: EngineFence | undefined;
  try {
    if (readOnly) await requireCurrent(handle.db, MIGRATIONS);
    else await (path === IN_MEMORY ? migrateInMemory : migrate)(handle.db, MIGRATIONS);
    if (options.fence !== undefined) fence = await raiseFence(handle.db, 'sqlite', options.fence);
  } catch (error) {
    await handle.db.destroy();
    return fail(`open the store "${path}"`, error);
  }
  return parts(storeConnection(handle.db, { dialect: 'sqlite', groupWrites, fence }), {
    news: NO_NEWS,
    wakes: polledWakes(),
    close: () => handle.close(),
  });
}

function openFile(path: string, options: SqliteOptions): SqliteHandle {
  try {
    return openSqlite(path, options);
  } catch (error) {
    return fail(`open the store "${path}"`, error);
  }
}

interface Surroundings {
  readonly news: EventNews;
  readonly wakes: ClosableWakes;
  close(): Promise<void>;
}

function parts(connection: StoreConnection, { news, wakes, close }: Surroundings) {
  return {
    installation: installation(connection),
    engine: engineStore(connection),
    journal: journalUpkeep(connection),
    placement: placementStore(connection),
    hosts: hostStore(connection),
    warmPool: warmPoolStore(connection),
    records: recordStore(connection, news),
    plans: planStore(connection),
    events: eventLog(connection, news),
    lifecycle: lifecycleLog(connection),
    activity: activityStore(connection),
    workspaces: workspaceStore(connection),
    archives: archiveStore(connection),
    spend: spendLog(connection),
    search: recordSearch(connection),
    startTasks: startTaskStore(connection),
    idempotencyKeys: idempotencyKeyStore(connection),
    apiKeys: apiKeyStore(connection),
    documents: documentStore(connection),
    audit: auditLog(connection),
    eventSearch: eventSearch(connection),
    eventWakes: wakes,
    /** Null on SQLite, on which one service serves. */
    rateMeter: connection.dialect === 'postgres' ? rateMeter(connection) : null,
    accounts: spendAccounts(connection),
    proxyKeys: proxyKeyStore(connection),
    proxyPeers: proxyPeers(connection),
    leases: spendLeases(connection),
    configuration: configurationStore(connection),
    troubles: troubleStore(connection),
    overview: overview(connection),
    vault: (sealKey: SealKey, options?: VaultOptions) => secretVault(connection, sealKey, options),
    /** No call may be under way. Ends the pool that was handed in. */
    async close() {
      await Promise.all([wakes.close(), news.close()]);
      await close();
    },
  };
}
