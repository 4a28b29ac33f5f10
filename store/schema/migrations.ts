/**
 * The schema as it grows, one entry per version, for both dialects.
 * A released entry never changes: a database stores the names it has, in order. The tables beside are those of the
 * first; each later entry alters them. From 0012 on the name of an entry says if it only expands, as in
 * `0012-expand-host-zone`, and older builds go on beside it (migrate.ts); contractions wait until those are gone.
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

/** Any service may take an earlier accepted start at once; the vault shows whether its secrets were sealed. */
async function shareServices(db: Kysely<unknown>): Promise<void> {
  const table = (): AlterTableBuilder => db.schema.alterTable('start_task');
  await table()
    .addColumn('stage', 'text', (column) => column.notNull().defaultTo('accepted'))
    .execute();
  await table()
    .addColumn('leased_until', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await createTables(db, RATE_TABLES, isPostgres(db));
  // Written often, and its loss in a crash is harmless.
  if (isPostgres(db)) await sql`alter table rate_bucket set unlogged`.execute(db);
}

/** Only rows of several proxies name their proxy, so that the index costs nothing for a proxy that serves alone. */
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

/** Failures are rare: an index of them alone costs nothing without any. The audit log is searched by user or action. */
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

/** An older build without duties joins as a proxy without a name, and leads nothing. */
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

/** Null: its agents can only be reached from their own host, as before. */
async function addHostRelays(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('host').addColumn('relay', 'text').execute();
}

/** Null in both: a process uses its configuration file, as older builds do. */
async function addConfiguration(db: Kysely<unknown>): Promise<void> {
  await createTables(db, CONFIGURATION_TABLES, isPostgres(db));
  const peer = (): AlterTableBuilder => db.schema.alterTable('proxy_peer');
  await peer().addColumn('configuration', 'bigint').execute();
  await peer().addColumn('configuration_refused', 'text').execute();
}

export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
