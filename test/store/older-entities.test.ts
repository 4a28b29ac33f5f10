/** Entities that a version without parts stored: read whole, and in parts from their next write on. */
import { PGlite } from '@electric-sql/pglite';
import { sql, type Kysely } from 'kysely';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runId } from '../../core/ids.ts';
import { wholeState } from '../../core/machine/machine.ts';
import { runMachine } from '../../core/run/machine.ts';
import type { RunState } from '../../core/run/state.ts';
import { migrate } from '../../store/schema/migrate.ts';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { openPostgres } from '../../store/sql/postgres.ts';
import { openSqlite } from '../../store/sql/sqlite.ts';
import type { Tables } from '../../store/schema/tables.ts';
import { pglitePool } from '../contract/store-pglite.ts';
import { conversationOf, RunLife } from '../core/run-life.ts';
import { beginLife } from '../engine/engine-harness.ts';
import { T0 } from '../engine/movable-clock.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const RUN = { machine: 'run', id: runId('r') } as const;

/** A run that has begun with its first item, as it was when it was stored whole. */
function oldState(): RunState {
  const { state } = new RunLife({}, [{}, {}, {}]);
  if (state === null) throw new Error('the run was not born');
  return state;
}

async function writeOldStore(db: Kysely<Tables>, state: unknown): Promise<void> {
  await migrate(db, MIGRATIONS);
  for (const id of [RUN.id, 'done'])
    await sql`insert into entity (machine, id, deadline, done, state)
      values (${RUN.machine}, ${id}, ${null}, ${id === 'done' ? 1 : 0}, ${JSON.stringify(state)})`.execute(
      db,
    );
}

/** A store of the version before, closed, and opened by this one. */
const STORES: Readonly<Record<string, (state: unknown) => Promise<Store>>> = {
  SQLite: async (state) => {
    const file = path.join(tempDir(), 'old.db');
    const { db, close } = openSqlite(file, { readOnly: false });
    await writeOldStore(db, state);
    await close();
    return await openStore({ kind: 'sqlite', path: file });
  },
  PostgreSQL: async (state) => {
    const server = await PGlite.create();
    onTestFinished(() => server.close());
    await writeOldStore(openPostgres(pglitePool(server)), state);
    return await openStore({ kind: 'postgres', pool: pglitePool(server) });
  },
};

describe.each(Object.keys(STORES))('an entity that an older version stored whole, on %s', (kind) => {
  async function open(state: unknown): Promise<Store> {
    const store = await STORES[kind]?.(state);
    if (store === undefined) throw new Error(`there is no store of ${kind}`);
    onTestFinished(() => store.close());
    return store;
  }

  it('is read as it is, and goes over to parts at its next write', async () => {
    const state = oldState();
    const store = await open(state);
    const stored = await store.engine.load(RUN);
    expect(stored).toEqual({ address: RUN, state: asJson(state), deadline: null, done: false });
    const life = await beginLife({ store });
    const commandId = state.items[0]?.awaiting ?? '';
    const conversationId = conversationOf(0, 1);
    const event = { type: 'conversationStarted', commandId, index: 0, conversationId } as const;
    await life.engine.deliver({ to: RUN, event });
    const after = await store.engine.load(RUN);
    expect(Object.keys(after?.lists ?? {})).toEqual(['items', 'sandboxes']);
    expect(after?.lists?.['items']).toHaveLength(3);
    const expected = runMachine.step(state, event, T0).state;
    expect(after === null ? null : asJson(wholeState(runMachine, after))).toEqual(asJson(expected));
    expect((await store.engine.load({ machine: 'run', id: 'done' }))?.done).toBe(true);
  });
});

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
