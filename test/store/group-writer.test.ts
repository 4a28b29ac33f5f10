/** Writes that share a commit: none takes another one with it, and no caller reads success before it is true. */
import path from 'node:path';
import { sql, type Kysely, type Transaction } from 'kysely';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GroupWriter } from '../../store/sql/group-writer.ts';
import { openSqlite } from '../../store/sql/sqlite.ts';
import type { Tables } from '../../store/schema/tables.ts';
import { tempDir } from '../helpers/temp-dir.ts';

interface Opened {
  readonly db: Kysely<Tables>;
  readonly writer: GroupWriter;
  readonly commits: () => number;
}

async function open(): Promise<Opened> {
  let commits = 0;
  const onCommit = (): void => void (commits += 1);
  const { db, close } = openSqlite(path.join(tempDir(), 'group.db'), { readOnly: false, onCommit });
  onTestFinished(close);
  await sql`create table parent (n integer primary key)`.execute(db);
  await sql`create table written (
    position integer primary key,
    n integer unique references parent (n) deferrable initially deferred
  )`.execute(db);
  return { db, writer: new GroupWriter(db), commits: () => commits };
}

const insert = (n: number | null) => async (transaction: Transaction<Tables>) => {
  const { rows } = await sql<{
    position: number;
  }>`insert into written (n) values (${n}) returning position`.execute(transaction);
  return rows[0]?.position;
};

const insertParents = (count: number) => async (transaction: Transaction<Tables>) => {
  for (let n = 0; n < count; n += 1) await sql`insert into parent values (${n})`.execute(transaction);
};

async function written(db: Kysely<Tables>): Promise<readonly (number | null)[]> {
  const { rows } = await sql<{ n: number | null }>`select n from written order by position`.execute(db);
  return rows.map(({ n }) => n);
}

describe('GroupWriter', () => {
  it('gives writes that come together one commit, in order, each its own result', async () => {
    const { db, writer, commits } = await open();
    await writer.write(insertParents(10));
    const before = commits();
    const numbers = Array.from({ length: 10 }, (_, n) => n);
    const results = await Promise.all(numbers.map((n) => writer.write(insert(n))));
    expect(results).toEqual(numbers.map((n) => n + 1));
    expect(await written(db)).toEqual(numbers);
    expect(commits() - before).toBe(1);
  });

  it('lets a failing write take no other with it, whichever fail', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('good', 'throws', 'repeats'), { minLength: 1, maxLength: 12 }),
        async (kinds) => {
          const { db, writer } = await open();
          await writer.write(insertParents(20));
          await writer.write(insert(19));
          const outcomes = await Promise.allSettled(
            kinds.map((kind, n) =>
              writer.write(async (transaction) => {
                await insert(kind === 'repeats' ? 19 : n)(transaction);
                if (kind === 'throws') throw new Error(`no ${n}`);
                return n;
              }),
            ),
          );
          const good = kinds.flatMap((kind, n) => (kind === 'good' ? [n] : []));
          expect(outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))).toEqual(good);
          const reasons = outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : 'good'));
          const expected = {
            good: () => 'good',
            throws: (n: number) => `Error: no ${n}`,
            repeats: () => 'UNIQUE',
          };
          for (const [n, kind] of kinds.entries()) expect(reasons[n]).toContain(expected[kind](n));
          expect(await written(db)).toEqual([19, ...good]);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('rejects every write of a commit that fails, and writes none', async () => {
    const { db, writer } = await open();
    await writer.write(insertParents(1));
    // The reference to a parent that is not there is checked by the commit, not by the statement.
    const outcomes = await Promise.allSettled([writer.write(insert(0)), writer.write(insert(77))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await written(db)).toEqual([]);
    expect(await writer.write(insert(0))).toBe(1);
  });

  it('takes writes that arrive while a group is written', async () => {
    const { db, writer } = await open();
    await writer.write(insertParents(50));
    const later: Promise<unknown>[] = [];
    await writer.write(async (transaction) => {
      for (let n = 0; n < 25; n += 1) later.push(writer.write(insert(n)));
      await insert(49)(transaction);
    });
    await Promise.all(later);
    expect(await written(db)).toEqual([49, ...Array.from({ length: 25 }, (_, n) => n)]);
  });
});
