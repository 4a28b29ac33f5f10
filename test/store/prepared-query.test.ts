/** Texts made once: what is filled in later arrives where Kysely put the stand-ins, in any number of rows. */
import path from 'node:path';
import { sql, type Insertable, type Kysely } from 'kysely';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import { migrate } from '../../store/schema/migrate.ts';
import { prepareQuery, prepareRows } from '../../store/sql/prepared-query.ts';
import { openSqlite } from '../../store/sql/sqlite.ts';
import type { Tables } from '../../store/schema/tables.ts';
import { tempDir } from '../helpers/temp-dir.ts';

async function open(): Promise<Kysely<Tables>> {
  const { db, close } = openSqlite(path.join(tempDir(), 'prepared.db'), { readOnly: false });
  onTestFinished(close);
  await migrate(db, MIGRATIONS);
  return db;
}

interface Slot {
  readonly sandbox_id: string;
  readonly user_id: string;
  readonly taken_at: number;
}

type Tag = Insertable<Tables['conversation_tag']>;
const COLUMNS = ['key', 'value', 'user_id', 'created_at'] as const;

describe('prepareQuery()', () => {
  it('makes the text once per database and fills in the values every time', async () => {
    let made = 0;
    const query = prepareQuery((db, { a, b }: { readonly a: number; readonly b: string | null }) => {
      made += 1;
      return sql<{
        a: number;
        b: string;
        c: number;
        again: number;
      }>`select ${a} as a, ${b} as b, ${7} as c, ${a} as again`.compile(db);
    });
    for (const db of [await open(), await open()]) {
      expect(await query.first(db, { a: 1, b: 'x' })).toEqual({ a: 1, b: 'x', c: 7, again: 1 });
      // The order in which the values are named says nothing.
      expect(await query.all(db, { b: null, a: 2 })).toEqual([{ a: 2, b: null, c: 7, again: 2 }]);
      await db.transaction().execute(async (transaction) => {
        expect(await query.first(transaction, { a: 3, b: 'y' })).toMatchObject({ a: 3, b: 'y' });
      });
    }
    expect(made).toBe(2);
  });
});

describe('prepareRows()', () => {
  const put = prepareRows((db, rows: readonly Slot[]) =>
    db.insertInto('slot').values(rows).returning('sandbox_id').compile(),
  );

  it('writes any number of rows in order', async () => {
    const db = await open();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 700 }), async (count) => {
        await db.deleteFrom('slot').execute();
        const rows = Array.from({ length: count }, (_, n) => ({
          sandbox_id: `s${n}`,
          user_id: `u${n % 7}`,
          taken_at: n,
          host: null,
        }));
        const returned = await put.execute(db, rows);
        expect(returned.map((row) => row.sandbox_id)).toEqual(rows.map((row) => row.sandbox_id));
        expect(await db.selectFrom('slot').selectAll().orderBy('taken_at').execute()).toEqual(rows);
      }),
      { numRuns: 15 },
    );
  });

  it('writes each row as it is, whatever all of them have in common', async () => {
    const db = await open();
    const few = fc.constantFrom('', 'a', 'b');
    const row = fc.record({ key: few, value: few, user_id: few, created_at: fc.nat({ max: 1 }) });
    const add = prepareRows((on, rows: readonly Tag[]) =>
      on.insertInto('conversation_tag').values(rows).compile(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 40 }), fc.subarray([...COLUMNS]), async (drawn, same) => {
        await db.deleteFrom('conversation_tag').execute();
        const common = Object.fromEntries(same.map((name) => [name, drawn[0]?.[name]]));
        const rows = drawn.map((one, n) => ({ ...one, ...common, conversation_id: `c${100 + n}` }) as Tag);
        await add.execute(db, rows);
        const stored = await db
          .selectFrom('conversation_tag')
          .selectAll()
          .orderBy('conversation_id')
          .execute();
        expect(stored).toEqual(rows);
      }),
    );
  });
});
