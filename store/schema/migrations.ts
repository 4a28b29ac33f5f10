/**
 * The schema as it grows, one entry per version, for both dialects.
 * A released entry never changes: a database remembers the names it has, in order. The tables beside are those of the
 * first; what comes later alters them in an entry of its own. From 0012 on one that only expands is called so, as
 * `0012-expand-host-zone`, and older builds go on beside it (migrate.ts); whatever contracts waits until they are gone.
 */
import { PostgresAdapter, sql, type AlterTableBuilder, type Kysely, type Migration } from 'kysely';
import { ACCESS_TABLES, RATE_TABLES } from './access-tables.ts';
import { createTables } from './create-tables.ts';
import { ENGINE_TABLES } from './engine-tables.ts';
import { HOST_TABLES, PLACEMENT_TABLES } from './placement-tables.ts';
import { usePresentNames } from './present-names.ts';
import { RECORD_TABLES } from './record-tables.ts';
import {
  CONFIGURATION_TABLES,
  DUTY_TABLES,
  SHARED_SPEND_TABLES,
  SPEND_LOSS_TABLES,
  SPEND_TABLES,
} from './spend-tables.ts';

const FIRST = { ...ENGINE_TABLES, ...RECORD_TABLES, ...PLACEMENT_TABLES, ...SPEND_TABLES, ...ACCESS_TABLES };

/** Names sort by age; the last is the version of this program. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-schema': { up: (db: Kysely<unknown>) => createTables(db, FIRST, isPostgres(db)) },
  '0002-spend-loss': {
    up: (db: Kysely<unknown>) => createTables(db, SPEND_LOSS_TABLES, isPostgres(db)),
  },
  '0003-overview': { up: findFailures },
  '0004-names': { up: usePresentNames },
  '0005-several-services': { up: shareServices },
  '0006-proxies': { up: shareLimits },
  '0007-hosts': { up: addHosts },
  '0008-hosts-of-waiters': { up: addHostsOfWaiters },
  '0009-lost-hosts': { up: addHostLosses },
  '0010-duties': { up: addDuties },
  '0011-host-relays': { up: addHostRelays },
  '0012-expand-configuration': { up: addConfiguration },
};

/** A start that was accepted before is anybody's at once; whether it was sealed is seen where its secrets are. */
async function shareServices(db: Kysely<unknown>): Promise<void> {
  const table = (): AlterTableBuilder => db.schema.alterTable('start_task');
  await table()
    .addColumn('stage', 'text', (column) => column.notNull().defaultTo('accepted'))
    .execute();
  await table()
    .addColumn('leased_until', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await createTables(db, RATE_TABLES, isPostgres(db));
  // It is written often, and a crash may forget it.
  if (isPostgres(db)) await sql`alter table rate_bucket set unlogged`.execute(db);
}

/** Only rows of several proxies say whose they are, so that the index costs one that serves alone nothing. */
async function shareLimits(db: Kysely<unknown>): Promise<void> {
  for (const column of ['proxy_id', 'run_id']) {
    const type = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema.alterTable('spend').addColumn(column, type).execute();
  }
  await sql`create index spend_by_proxy on spend (proxy_id, started_at) where proxy_id is not null`.execute(
    db,
  );
  await createTables(db, SHARED_SPEND_TABLES, isPostgres(db));
}

/** What failed is rare: an index of it alone costs nothing where all goes well. The log is searched by who and what. */
async function findFailures(db: Kysely<unknown>): Promise<void> {
  for (const table of ['conversation', 'sandbox'])
    await db.schema
      .alterTable(table)
      .addColumn('failed', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  const indexes = [
    sql`create index conversation_failed on conversation (updated_at) where failed = 1`,
    sql`create index sandbox_failed on sandbox (created_at) where failed = 1`,
    sql`create index lifecycle_event_of_code on lifecycle_event (code, at)`,
    sql`create index audit_by_user on audit (user_id, position)`,
    sql`create index audit_by_action on audit (action, position)`,
    sql`create index audit_by_at on audit (at)`,
  ];
  for (const index of indexes) await index.execute(db);
}

/** Null in both: bound to no host, as everything was before. */
async function addHosts(db: Kysely<unknown>): Promise<void> {
  await createTables(db, HOST_TABLES, isPostgres(db));
  const kind = isPostgres(db) ? sql`text collate "C"` : sql`text`;
  for (const table of ['sandbox', 'slot', 'warm_sandbox'])
    await db.schema.alterTable(table).addColumn('host', kind).execute();
  const indexes = [
    sql`create index slot_by_host on slot (host)`,
    sql`create index sandbox_by_host on sandbox (host) where host is not null`,
  ];
  for (const index of indexes) await index.execute(db);
}

/** Null: any host will do. */
async function addHostsOfWaiters(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('slot_line').addColumn('host', 'text').execute();
}

/** Loss is rare: an index of it alone costs nothing where no host was given up. */
async function addHostLosses(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('host').addColumn('ended', 'text').execute();
  await db.schema
    .alterTable('sandbox')
    .addColumn('lost', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`create index sandbox_lost on sandbox (created_at) where lost = 1`.execute(db);
}

/** A build that knows none of it joins as a proxy without a name, and leads nothing. */
async function addDuties(db: Kysely<unknown>): Promise<void> {
  const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
  for (const [column, before] of [
    ['kind', 'proxy'],
    ['name', ''],
  ] as const)
    await db.schema
      .alterTable('proxy_peer')
      .addColumn(column, text, (added) => added.notNull().defaultTo(before))
      .execute();
  await createTables(db, DUTY_TABLES, isPostgres(db));
}

/** Null: agents there are reached from their own host alone, as before. */
async function addHostRelays(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('host').addColumn('relay', 'text').execute();
}

/** Null in both: a process goes by its file, as those of older builds do. */
async function addConfiguration(db: Kysely<unknown>): Promise<void> {
  await createTables(db, CONFIGURATION_TABLES, isPostgres(db));
  const peer = (): AlterTableBuilder => db.schema.alterTable('proxy_peer');
  await peer().addColumn('configuration', 'bigint').execute();
  await peer().addColumn('configuration_refused', 'text').execute();
}

export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
