/**
 * The schema of a database in memory, brought about by migrations once in a process and copied from then on.
 * Owns the copy. SQLite reads its whole schema for each column that a migration adds: that is most of what it costs to
 * open a store that lives for a second.
 */
import { CompiledQuery, sql, type Kysely, type Migration } from 'kysely';
import { migrate } from './migrate.ts';
import type { Tables } from './tables.ts';

type Migrations = Readonly<Record<string, Migration>>;

/** What makes a database of another one's schema, and of what migrations put there. */
const COPIES = new WeakMap<Migrations, readonly CompiledQuery[]>();

/** As `migrate`, of a database that has just been made. */
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
