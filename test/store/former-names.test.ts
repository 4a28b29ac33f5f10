/** A store whose values have the names of older versions is migrated: all of them, whatever their number, and no text. */
import { PGlite } from '@electric-sql/pglite';
import { sql, type Kysely } from 'kysely';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../store/schema/migrate.ts';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import { openPostgres } from '../../store/sql/postgres.ts';
import { openSqlite } from '../../store/sql/sqlite.ts';
import type { Tables } from '../../store/schema/tables.ts';
import { pglitePool } from '../contract/store-pglite.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const BEFORE = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < '0004-names'));
/** More than one page of them. */
const MANY = 450;
const HOSTILE = '<b>"birth":\u001b[31m \u0000 {"birth":1} \ud83d\ude00';

const OPEN: Readonly<{ [kind: string]: () => Promise<Kysely<Tables>> }> = {
  SQLite: async () => {
    const { db, close } = openSqlite(path.join(tempDir(), 'old.db'), { readOnly: false });
    onTestFinished(() => close());
    return db;
  },
  PostgreSQL: async () => {
    const server = await PGlite.create();
    onTestFinished(() => server.close());
    return openPostgres(pglitePool(server));
  },
};

interface Row {
  readonly id: string;
  readonly state: string;
}

async function addEntity(db: Kysely<Tables>, id: string, state: unknown): Promise<void> {
  const row = { machine: 'conversation', id, done: 0, state: JSON.stringify(state) };
  await sql`insert into entity (machine, id, deadline, done, state)
    values (${row.machine}, ${row.id}, ${null}, ${row.done}, ${row.state})`.execute(db);
}

describe.each(Object.keys(OPEN))('a store of older names on %s', (kind) => {
  async function old(): Promise<Kysely<Tables>> {
    const db = await OPEN[kind]?.();
    if (db === undefined) throw new Error(`there is no store of ${kind}`);
    await migrate(db, BEFORE);
    return db;
  }

  it('has no entity, and is migrated', async () => {
    const db = await old();
    await migrate(db, MIGRATIONS);
    const { rows } = await sql<Row>`select id, state from entity`.execute(db);
    expect(rows).toEqual([]);
  });

  it('has each state, event, journal and start under the names of today', async () => {
    const db = await old();
    const birth = { conversationId: 'c', initialMessage: { text: HOSTILE }, tags: { birth: 'here' } };
    for (let at = 0; at < MANY; at += 1) await addEntity(db, `c${at}`, { version: 1, birth });
    const present = JSON.stringify({ version: 1, spec: birth });
    await addEntity(db, 'new', { version: 1, spec: birth });
    const event = JSON.stringify({ type: 'started', birth, watcher: null });
    await sql`insert into inbox (inbox_id, machine, id, accepted_at, event)
      values ('i', 'conversation', 'c', 1, ${event})`.execute(db);
    const inputs = JSON.stringify([
      { kind: 'letter', letter: { id: 'l', event: { type: 'started', birth, watcher: null } }, at: 5 },
      { kind: 'deadline', at: 6 },
    ]);
    await sql`insert into journal (machine, id, number, inputs)
      values ('conversation', 'c', 3, ${inputs})`.execute(db);

    await migrate(db, MIGRATIONS);
    const { rows } = await sql<Row>`select id, state from entity`.execute(db);
    expect(rows).toHaveLength(MANY + 1);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set([present]));
    const inbox = await sql<{ readonly event: string }>`select event from inbox`.execute(db);
    expect(inbox.rows).toEqual([{ event: JSON.stringify({ type: 'started', spec: birth, watcher: null }) }]);
    const journal = await sql<{ readonly inputs: string }>`select inputs from journal`.execute(db);
    expect(JSON.parse(journal.rows[0]?.inputs ?? '')).toEqual([
      {
        kind: 'envelope',
        envelope: { id: 'l', event: { type: 'started', spec: birth, watcher: null } },
        at: 5,
      },
      { kind: 'deadline', at: 6 },
    ]);
  });
});
