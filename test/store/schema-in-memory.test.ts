/** A copied schema is the one that migrations make, with what they put into it. */
import { sql, type Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { migrate, migrateInMemory, requireCurrent } from '../../store/schema/migrate.ts';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import type { Tables } from '../../store/schema/tables.ts';
import { IN_MEMORY, openSqlite } from '../../store/sql/sqlite.ts';

/** Tables and indexes as SQLite has them, and every row; when a migration ran is left out. */
async function contentOf(db: Kysely<Tables>): Promise<unknown> {
  const made = await sql<{ type: string; name: string }>`select type, name, tbl_name, sql from sqlite_master
    order by type, name`.execute(db);
  const tables = made.rows.filter(({ type }) => type === 'table');
  const rows = tables.map(async ({ name }) => {
    const found = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    return [name, found.rows.map((row) => ({ ...row, timestamp: null }))] as const;
  });
  return { made: made.rows, rows: await Promise.all(rows) };
}

it('copies what migrations make, rows included', async () => {
  const contents: unknown[] = [];
  for (const bring of [migrate, migrateInMemory, migrateInMemory]) {
    const { db, close } = openSqlite(IN_MEMORY, { readOnly: false });
    await bring(db, MIGRATIONS);
    await requireCurrent(db, MIGRATIONS);
    contents.push(await contentOf(db));
    await close();
  }
  expect(contents[1]).toEqual(contents[0]);
  expect(contents[2]).toEqual(contents[0]);
  expect(JSON.stringify(contents[0])).toContain('0012-expand-configuration');
});
