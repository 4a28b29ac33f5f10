/** Reads that share a transaction: each has its own answer or failure, and sees what was acknowledged before. */
import path from 'node:path';
import { sql, type Kysely } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GroupReader } from '../../store/sql/group-reader.ts';
import { openSqlite } from '../../store/sql/sqlite.ts';
import type { Tables } from '../../store/schema/tables.ts';
import { tempDir } from '../helpers/temp-dir.ts';

async function open(): Promise<{ readonly db: Kysely<Tables>; readonly reader: GroupReader }> {
  const { db, close } = openSqlite(path.join(tempDir(), 'group.db'), { readOnly: false });
  onTestFinished(close);
  await sql`create table kept (n integer)`.execute(db);
  return { db, reader: new GroupReader(db) };
}

const count = async (db: Kysely<Tables>): Promise<number | undefined> =>
  (await sql<{ n: number }>`select count(*) as n from kept`.execute(db)).rows[0]?.n;

describe('GroupReader', () => {
  it('gives each read its own answer, and its own failure', async () => {
    const { db, reader } = await open();
    await sql`insert into kept values (1)`.execute(db);
    const broken = (on: Kysely<Tables>) => sql`select n from nothing`.execute(on);
    const outcomes = await Promise.allSettled([reader.read(count), reader.read(broken), reader.read(count)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[2]).toMatchObject({ value: 1 });
  });

  it('sees every write that was acknowledged before', async () => {
    const { db, reader } = await open();
    for (let n = 1; n <= 20; n += 1) {
      const earlier = [reader.read(count), reader.read(count)];
      await db
        .transaction()
        .execute((transaction) => sql`insert into kept values (${n})`.execute(transaction));
      expect(await Promise.all([reader.read(count), reader.read(count)])).toEqual([n, n]);
      await Promise.all(earlier);
    }
  });
});
