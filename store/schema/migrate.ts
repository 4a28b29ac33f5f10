/**
 * Migrates a database to the version of this program, or reports why it cannot.
 * Owns the comparison of versions, and that one process at a time changes a schema; must not know what a version contains.
 * Two builds may work on one database at once (expand, migrate, contract): additions of a newer one do not stop
 * an older one. The log has only names, so the name of a migration says whether it only adds.
 */
import { CompiledQuery, Migrator, sql, type Kysely, type Migration } from 'kysely';
import { ParleyError } from '../../core/parley-error.ts';
import { fail } from '../sql/connection.ts';
import { isPostgres } from './migrations.ts';
import type { Tables } from './tables.ts';

type Migrations = Readonly<Record<string, Migration>>;

/** Beside those of connection.ts; held while a schema is read and changed. */
const MIGRATION_LOCK = 7_004;

/**
 * Such as `0012-expand-host-zone`: it adds tables, columns that are null or have a default, and indexes. It removes
 * nothing and changes no meaning, and rows of the build before suit the build after. Any other migration contracts.
 */
const EXPANDING = /^\d{4}-expand-/;

/**
 * Applies what is missing; nothing when it is up to date. Safe beside another process that does the same.
 * @throws ParleyError store_unavailable when the schema is newer than the program and not only expanded, or a migration fails
 */
export async function migrate(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  await alone(db, async (connected, schema) => {
    await refuseNewer(connected, migrations, schema);
    if ((await missingNames(connected, migrations, schema)).length === 0) return;
    const { error } = await migratorOf(connected, migrations, schema).migrateToLatest();
    if (error !== undefined) fail('migrate the store', error);
  });
}

/**
 * For a connection that may not write: the schema must be the program's, or one that a newer program has only expanded.
 * @throws ParleyError store_unavailable when it is newer, older or not there
 */
export async function requireCurrent(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const schema = await schemaOf(db);
  await refuseNewer(db, migrations, schema);
  const missing = await missingNames(db, migrations, schema);
  if (missing.length === 0) return;
  const isEmpty = missing.length === Object.keys(migrations).length;
  throw new ParleyError(
    'store_unavailable',
    `Cannot open the store for reading: its schema lacks "${missing[0]}"; open it for writing once, which migrates it`,
    isEmpty ? { details: EMPTY } : {},
  );
}

/** Nothing was ever stored, or another process is just creating the schema. */
const EMPTY = { schema: null };

/** Whether a reader was refused because there is nothing to read yet. */
export function isEmptyStore(error: unknown): boolean {
  return error instanceof ParleyError && error.details['schema'] === EMPTY.schema;
}

/** Null where there is but one: on SQLite. */
type Schema = string | null;

/**
 * One connection, while no other process changes the schema. On SQLite the migrations are one transaction anyway; on
 * PostgreSQL two processes would create the tables of versions at once.
 */
async function alone(
  db: Kysely<Tables>,
  work: (connected: Kysely<Tables>, schema: Schema) => Promise<void>,
): Promise<void> {
  if (!isPostgres(db)) return await work(db, null);
  const key = sql.lit(MIGRATION_LOCK);
  await db.connection().execute(async (connected) => {
    await sql`select pg_advisory_lock(${key})`.execute(connected);
    try {
      await work(connected, await schemaOf(connected));
    } finally {
      // A lost connection has released it already, and the cause of the loss is the error that matters.
      await sql`select pg_advisory_unlock(${key})`.execute(connected).catch(() => undefined);
    }
  });
}

/** @throws ParleyError store_unavailable when the search path leads to no schema */
async function schemaOf(db: Kysely<Tables>): Promise<Schema> {
  if (!isPostgres(db)) return null;
  const { rows } = await sql<{ readonly name: Schema }>`select current_schema() as name`.execute(db);
  const name = rows[0]?.name ?? null;
  if (name !== null) return name;
  throw new ParleyError('store_unavailable', 'Cannot open the store: the search path leads to no schema', {
    remedy: 'create the schema "public" in the database',
  });
}

/** Accepts expansions by a newer program, unless own migrations are missing: then it is another line of programs. */
async function refuseNewer(db: Kysely<Tables>, migrations: Migrations, schema: Schema): Promise<void> {
  const unknown = (await appliedNames(db, schema)).filter((name) => !Object.hasOwn(migrations, name)).sort();
  const isBehind = (await missingNames(db, migrations, schema)).length > 0;
  const newest = unknown.filter((name) => isBehind || !EXPANDING.test(name)).at(-1);
  if (newest === undefined) return;
  const own = Object.keys(migrations).sort().at(-1) ?? 'none';
  throw new ParleyError(
    'store_unavailable',
    `Cannot open the store: its schema "${newest}" is newer than this program's "${own}", and does more than add to it; use the newer program`,
    { details: { schema: newest, supported: own } },
  );
}

async function missingNames(
  db: Kysely<Tables>,
  migrations: Migrations,
  schema: Schema,
): Promise<readonly string[]> {
  const applied = new Set(await appliedNames(db, schema));
  return Object.keys(migrations).filter((name) => !applied.has(name));
}

/** Names of the migrations the database has; none for a new database. */
async function appliedNames(db: Kysely<Tables>, schema: Schema): Promise<readonly string[]> {
  if (!(await hasLog(db, schema))) return [];
  const rows = await db.withTables<LogTables>().selectFrom(LOG_TABLE).select('name').execute();
  return rows.map((row) => row.name);
}

/** Queries PostgreSQL for this table only: a list of all takes as long as the rest of opening a store. */
async function hasLog(db: Kysely<Tables>, schema: Schema): Promise<boolean> {
  if (schema === null) {
    const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
    return tables.some((table) => table.name === LOG_TABLE);
  }
  const { rows } = await sql<{ readonly found: boolean }>`select exists (select 1 from pg_tables
    where schemaname = ${schema} and tablename = ${LOG_TABLE}) as found`.execute(db);
  return rows[0]?.found === true;
}

/** Where Kysely keeps the names; also its default. */
const LOG_TABLE = 'kysely_migration';
type LogTables = Record<typeof LOG_TABLE, { readonly name: string }>;

function migratorOf(db: Kysely<Tables>, migrations: Migrations, schema: Schema): Migrator {
  return new Migrator({
    db,
    migrationTableName: LOG_TABLE,
    ...(schema === null ? {} : { migrationTableSchema: schema }),
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
  });
}

/** Statements that copy the schema of a database, and the rows that migrations inserted. */
const COPIES = new WeakMap<Migrations, readonly CompiledQuery[]>();

/**
 * As `migrate`, for a new database in memory: by migrations once in a process, and copied from then on. SQLite reads
 * its whole schema for each column that a migration adds, which is most of the cost of opening a store that lives for
 * a second.
 */
export async function migrateInMemory(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const copy = COPIES.get(migrations);
  if (copy === undefined) {
    await migrate(db, migrations);
    COPIES.set(migrations, await copyOf(db));
    return;
  }
  await db.transaction().execute(async (transaction) => {
    for (const statement of copy) await transaction.executeQuery(statement);
  });
}

async function copyOf(db: Kysely<Tables>): Promise<readonly CompiledQuery[]> {
  const made = sql<{ type: string; name: string; sql: string }>`select type, name, sql from sqlite_master
    where sql is not null and name not like 'sqlite@_%' escape '@' order by rowid`;
  const { rows } = await made.execute(db);
  const tables = rows.filter(({ type }) => type === 'table');
  const filled = await Promise.all(tables.map(({ name }) => rowsOf(db, name)));
  return [...rows.map(({ sql: text }) => CompiledQuery.raw(text)), ...filled.flat()];
}

async function rowsOf(db: Kysely<Tables>, table: string): Promise<readonly CompiledQuery[]> {
  const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(db);
  return rows.map((row) =>
    sql`insert into ${sql.table(table)} values (${sql.join(Object.values(row))})`.compile(db),
  );
}
