/** The SQLite file from outside: beside other processes, after a kill, and with a schema that does not fit. */
import Database from 'libsql';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore, type Store } from '../../store/open-store.ts';
import {
  conversationNumber,
  LIMITS,
  runRow,
  sandboxNumber,
  sandboxRow,
  spendRow,
  USER,
} from '../contract/store-rows.ts';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { buildChildren, releaseTogether, startChild } from './child-program.ts';

const NEWEST = Object.keys(MIGRATIONS).sort().at(-1);

async function open(file: string, readOnly = false): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path: file, readOnly });
  onTestFinished(() => store.close());
  return store;
}

describe('openStore()', () => {
  it('keeps every acknowledged commit and no part of another over kill -9', async () => {
    const folder = tempDir();
    const file = path.join(folder, 'parley.db');
    const program = buildChildren(folder);
    let first = 1;
    for (const rounds of [1, 40, 90]) {
      const writer = startChild(program, 'writer', file, String(first));
      let acknowledged = 0;
      while (acknowledged < first + rounds) acknowledged = Number((await writer.lines.next()).value);
      const reader = await openStore({ kind: 'sqlite', path: file, readOnly: true });
      expect((await reader.records.run(runRow().runId))?.sequence).toBeGreaterThanOrEqual(acknowledged);
      await reader.close();
      await writer.kill();
      for (let line = await writer.lines.next(); line.done !== true; line = await writer.lines.next())
        acknowledged = Number(line.value);
      const store = await openStore({ kind: 'sqlite', path: file });
      const armed = await store.engine.armed();
      const stored = armed[0]?.deadline ?? 0;
      expect(stored).toBeGreaterThanOrEqual(acknowledged);
      expect(armed.map((one) => one.deadline)).toEqual(Array.from({ length: 40 }, () => stored));
      expect((await store.engine.outbox()).map((entry) => entry.commandId)).toEqual([`command-${stored}`]);
      expect((await store.records.run(runRow().runId))?.sequence).toBe(stored);
      await store.close();
      first = stored + 1;
    }
  });

  it('never overfills a sandbox when several processes place at once', async () => {
    const folder = tempDir();
    const file = path.join(folder, 'parley.db');
    const store = await open(file);
    await store.records.project([sandboxRow(sandboxNumber(1), { transition: 'resuming' })]);
    const limits = { ...LIMITS, userMax: 1 };
    await store.placement.reserveSlot({
      sandboxId: sandboxNumber(1),
      generation: 1,
      userId: USER,
      waits: false,
      limits,
      now: 1,
    });
    const program = buildChildren(folder);
    const placers = [1_000, 2_000, 3_000].map((start) =>
      startChild(program, 'placer', file, String(start), '17'),
    );
    await releaseTogether(placers);
    const said: string[] = [];
    for (const placer of placers) {
      for (let line = await placer.lines.next(); line.done !== true; line = await placer.lines.next())
        said.push(line.value);
      expect(await placer.ended()).toBe(0);
    }
    expect(said).toHaveLength(51);
    expect(said.filter((line) => line === sandboxNumber(1))).toHaveLength(20);
    expect(said.filter((line) => line === 'concurrency_limit_reached')).toHaveLength(31);
  });

  it('migrates a new file once when several processes open it', async () => {
    const folder = tempDir();
    const file = path.join(folder, 'parley.db');
    const program = buildChildren(folder);
    const openers = [1, 2, 3, 4].map((number) => startChild(program, 'opener', file, String(number)));
    await releaseTogether(openers);
    expect(await Promise.all(openers.map((opener) => opener.ended()))).toEqual([0, 0, 0, 0]);
    expect(await (await open(file, true)).spend.search({})).toHaveLength(4);
  });

  it('reads beside a writer and cannot write', async () => {
    const file = path.join(tempDir(), 'parley.db');
    const writer = await open(file);
    const reader = await open(file, true);
    await writer.records.project([sandboxRow(sandboxNumber(1))]);
    expect(await reader.records.sandboxes()).toHaveLength(1);
    const writing = reader.events.append(conversationNumber(1), [{ id: 'e', timestamp: 't', kind: 'k' }], 1);
    await expect(writing).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await writer.events.count(conversationNumber(1))).toBe(0);
  });

  it('keeps what was there when it opens again', async () => {
    const file = path.join(tempDir(), 'parley.db');
    const first = await openStore({ kind: 'sqlite', path: file });
    await first.spend.write([spendRow('a')]);
    await first.close();
    expect(await (await open(file)).spend.search({})).toEqual([spendRow('a')]);
  });

  it('does not make a file to read it', async () => {
    const file = path.join(tempDir(), 'parley.db');
    await expect(open(file, true)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(existsSync(file)).toBe(false);
    new Database(file).exec('create table other (a)');
    await expect(open(file, true)).rejects.toThrow('its schema lacks "0001-schema"');
  });

  it.each([false, true])(
    'refuses a schema that is newer than the program (read only: %s)',
    async (readOnly) => {
      const file = path.join(tempDir(), 'parley.db');
      await (await openStore({ kind: 'sqlite', path: file })).close();
      new Database(file).exec(`insert into kysely_migration (name, timestamp) values ('9999-later', 'x')`);
      await expect(open(file, readOnly)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: `Cannot open the store: its schema "9999-later" is newer than this program's "${NEWEST}", and does more than add to it; use the newer program`,
      });
    },
  );

  it.each([false, true])(
    'goes on with a schema that a newer program has only expanded (read only: %s)',
    async (readOnly) => {
      const file = path.join(tempDir(), 'parley.db');
      await (await openStore({ kind: 'sqlite', path: file })).close();
      const database = new Database(file);
      database.exec(`insert into kysely_migration (name, timestamp) values ('9998-expand-spend', 'x')`);
      database.exec(`alter table spend add column later text not null default 'x'`);
      const store = await open(file, readOnly);
      if (!readOnly) await store.spend.write([spendRow('a')]);
      expect(await store.spend.search({})).toEqual(readOnly ? [] : [spendRow('a')]);
      database.exec(`insert into kysely_migration (name, timestamp) values ('9999-contract', 'y')`);
      await expect(open(file, readOnly)).rejects.toThrow('its schema "9999-contract" is newer');
      database.exec(`delete from kysely_migration where name in ('9999-contract', '${NEWEST}')`);
      await expect(open(file, readOnly)).rejects.toThrow('its schema "9998-expand-spend" is newer');
    },
  );

  it('says so when the file is no database or its folder is not there', async () => {
    const file = path.join(tempDir(), 'parley.db');
    writeFileSync(file, 'x'.repeat(5_000));
    await expect(open(file)).rejects.toMatchObject({ code: 'store_damaged' });
    await expect(open(path.join(tempDir(), 'none', 'parley.db'))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });
});
