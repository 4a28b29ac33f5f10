/**
 * Brings a database to the version of this program, or says why not.
 * Owns the comparison of versions; must not know what a version contains.
 */
import { Migrator, type Kysely, type Migration } from 'kysely';
import { ParleyError } from '../core/parley-error.ts';
import { fail } from './connection.ts';
import type { Tables } from './tables.ts';

type Migrations = Readonly<Record<string, Migration>>;

/**
 * Applies what is missing; nothing when it is up to date. Safe beside another process that does the same.
 * @throws ParleyError store_unavailable when the schema is newer than the program, or a migration fails
 */
export async function migrate(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const migrator = migratorOf(db, migrations);
  await refuseNewer(db, migrations);
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) fail('migrate the store', error);
}

/**
 * For a connection that may not write: the schema must be exactly the program's.
 * @throws ParleyError store_unavailable when it is newer, older or not there
 */
export async function requireCurrent(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  await refuseNewer(db, migrations);
  const applied = new Set(await appliedNames(db));
  const missing = Object.keys(migrations).filter((name) => !applied.has(name));
  if (missing.length === 0) return;
  throw new ParleyError(
    'store_unavailable',
    `Cannot open the store for reading: its schema lacks "${missing[0]}"; open it for writing once, which migrates it`,
  );
}

async function refuseNewer(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const unknown = (await appliedNames(db)).filter((name) => !Object.hasOwn(migrations, name)).sort();
  const newest = unknown.at(-1);
  if (newest === undefined) return;
  const own = Object.keys(migrations).sort().at(-1) ?? 'none';
  throw new ParleyError(
    'store_unavailable',
    `Cannot open the store: its schema "${newest}" is newer than this program's "${own}"; use the newer program`,
    { details: { schema: newest, supported: own } },
  );
}

/** Names of the migrations the database has; none for a new database. */
async function appliedNames(db: Kysely<Tables>): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === LOG_TABLE)) return [];
  const rows = await db.withTables<LogTables>().selectFrom(LOG_TABLE).select('name').execute();
  return rows.map((row) => row.name);
}

/** Where Kysely keeps the names; also its default. */
const LOG_TABLE = 'kysely_migration';
type LogTables = Record<typeof LOG_TABLE, { readonly name: string }>;

function migratorOf(db: Kysely<Tables>, migrations: Migrations): Migrator {
  return new Migrator({
    db,
    migrationTableName: LOG_TABLE,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
  });
}
