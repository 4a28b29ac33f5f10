/** A real PostgreSQL server behind the store: who may open it, and what a lost connection does. */
import path from 'node:path';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exitCodeOfError } from '../../host/exit-code.ts';
import { openEngineStore, readDeployedStore } from '../../host/follow/config-store.ts';
import { conversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { parsePostgresUrl } from '../../store/sql/postgres-address.ts';
import { createPostgresPool, type PostgresServer } from '../../store/sql/postgres-pool.ts';
import { batch, entity, sandboxNumber, spendRow } from '../contract/store-rows.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const CONVERSATION = conversationId('c'.repeat(32));

describeWith('postgres', 'a PostgreSQL server', () => {
  let server: PostgresServerProcess;
  beforeAll(async () => {
    server = await startPostgres({ settings: { log_min_messages: 'fatal' } });
  });
  afterAll(() => server.close());

  let databases = 0;
  async function newDatabase(): Promise<string> {
    databases += 1;
    await server.createDatabase(`store_${databases}`);
    return `store_${databases}`;
  }

  function at(url: string, poolMax = 4): PostgresServer {
    return { address: parsePostgresUrl(url), poolMax, statementTimeoutMs: 20_000, tls: null, schema: null };
  }

  function deployed(url: string) {
    return { dataDir: tempDir(), store: { kind: 'postgres', server: at(url) } } as const;
  }

  async function open(database: string): Promise<Store> {
    const pool = createPostgresPool(at(server.url(database)), { readOnly: false, name: 'parley test' });
    const store = await openStore({ kind: 'postgres', pool });
    onTestFinished(() => store.close());
    return store;
  }

  const engine = { isAlone: true, onLost: () => undefined };

  async function refusal(opening: Promise<unknown>): Promise<ParleyError> {
    const error: unknown = await opening.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ParleyError)) throw new Error(`it was not refused: ${String(error)}`);
    return error;
  }

  describe('that cannot be used', () => {
    const CASES: Readonly<Record<string, readonly [(url: URL) => void, RegExp, RegExp]>> = {
      'does not answer': [
        (url) => (url.port = '1'),
        /^Cannot open the store: no PostgreSQL server answers at 127\.0\.0\.1:1$/,
        /start the server/,
      ],
      'refuses the password': [
        (url) => (url.password = 'planted-secret'),
        /refuses the user "parley"$/,
        /pg_hba\.conf/,
      ],
      'does not know the user': [
        (url) => (url.username = 'nobody'),
        /refuses the user "nobody"$/,
        /user and password/,
      ],
      'has no such database': [
        (url) => (url.pathname = '/elsewhere'),
        /has no database "elsewhere"$/,
        /createdb elsewhere/,
      ],
      'speaks no TLS': [
        (url) => (url.search = '?sslmode=require'),
        /does not support SSL connections$/,
        /store\.tls/,
      ],
    };

    it.each(Object.keys(CASES))('%s: one sentence with a remedy, and no password', async (name) => {
      const [change, message, remedy] = CASES[name] ?? [];
      const url = new URL(server.url('postgres'));
      change?.(url);
      const target = deployed(url.href);
      for (const opening of [() => openEngineStore(target, engine), () => readDeployedStore(target)]) {
        const error = await refusal(opening());
        expect([error.code, exitCodeOfError(error.code)]).toEqual(['store_unavailable', 5]);
        expect(error.message).toMatch(message ?? /^$/);
        expect(error.remedy).toMatch(remedy ?? /^$/);
        const shown = `${error.message} ${error.remedy} ${error.stack} ${JSON.stringify(error)}`;
        expect(shown).not.toContain(decodeURIComponent(url.password));
      }
    });

    it('has the schema of a newer program', async () => {
      const database = await newDatabase();
      await (await open(database)).close();
      await server.run(`insert into kysely_migration (name, timestamp) values ('9999-later', 'x')`, database);
      const error = await refusal(openEngineStore(deployed(server.url(database)), engine));
      expect(error.message).toMatch(/its schema "9999-later" is newer than .*; use the newer program$/);
    });

    it('has another encoding', async () => {
      await server.run(`create database latin encoding 'SQL_ASCII' locale 'C' template template0`);
      const error = await refusal(openEngineStore(deployed(server.url('latin')), engine));
      expect(error.message).toBe(
        'Cannot open the store: the encoding of the database is SQL_ASCII and not UTF8',
      );
    });

    it('has nothing yet for a reader, and lets no reader write', async () => {
      const database = await newDatabase();
      expect(await readDeployedStore(deployed(server.url(database)))).toBeNull();
      await open(database);
      const reader = await readDeployedStore(deployed(server.url(database)));
      if (reader === null) throw new Error('still nothing to read');
      onTestFinished(() => reader.close());
      expect((await refusal(reader.activity.touch('s' as never, 1))).message).toMatch(
        /read-only transaction/,
      );
    });
  });

  it('is expanded by a newer program beside one that serves, whose statements are prepared already', async () => {
    const database = await newDatabase();
    const store = await open(database);
    const work = () =>
      Promise.all(
        Array.from({ length: 8 }, async (_, number) => {
          await store.hosts.list();
          await store.spend.write([spendRow(`call-${number}`)]);
          return await store.spend.search({});
        }),
      );
    await work();
    for (const table of ['host', 'spend', 'proxy_peer'])
      await server.run(`alter table ${table} add column later text not null default 'x'`, database);
    await server.run(
      `insert into kysely_migration (name, timestamp) values ('9998-expand-all', 'x')`,
      database,
    );
    for (const found of await work()) expect(found.length).toBeGreaterThan(0);
    expect(await (await open(database)).spend.search({})).toHaveLength(8);
  });

  it('is migrated once by eight that open it at the same time', async () => {
    const database = await newDatabase();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(database)));
    await stores[0]?.events.append(CONVERSATION, [{ id: 'e', timestamp: 't', kind: 'K' }], 1);
    expect(await stores[7]?.events.count(CONVERSATION)).toBe(1);
    const names = await server.run('select name from kysely_migration order by name', database);
    expect(names.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS));
  });

  it('is held by one engine alone, or by several that share it, and never by both', async () => {
    const target = deployed(server.url(await newDatabase()));
    const alone = await openEngineStore(target, engine);
    const refused = await refusal(openEngineStore(target, { ...engine, isAlone: false }));
    expect([refused.code, refused.remedy]).toEqual([
      'data_directory_locked',
      'stop that engine first, or name another database in the URL of the store',
    ]);
    await alone.close();
    const shared = [
      await openEngineStore(target, { ...engine, isAlone: false }),
      await openEngineStore(target, { ...engine, isAlone: false }),
    ];
    await refusal(openEngineStore(target, engine));
    for (const { close } of shared) await close();
    await (await openEngineStore(target, engine)).close();
  });

  it('lets an engine that lost it write no more', async () => {
    const database = await newDatabase();
    const target = deployed(server.url(database));
    let tell = (_error: ParleyError): void => undefined;
    const lost = new Promise<ParleyError>((resolve) => (tell = resolve));
    const first = await openEngineStore(target, { isAlone: true, onLost: (error) => tell(error) });
    onTestFinished(() => first.close());
    await first.store.activity.touch('s' as never, 1);
    // Another session takes the lock in the moment in which the first one's connection is gone.
    const thief = expect(
      server.run(`select pg_advisory_lock(7003), pg_sleep(60)`, database),
    ).rejects.toThrow();
    await server.run(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${database}' and application_name like 'parley guard%'`);
    expect((await lost).code).toBe('data_directory_locked');
    await server.run(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${database}' and application_name like 'parley engine%'`);
    const late = await refusal(first.store.activity.touch('s' as never, 2));
    expect(late.code).toBe('store_unavailable');
    await server.run(`select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%'
      and pid <> pg_backend_pid()`);
    await thief;
    expect(await server.run('select last_activity_at from activity', database)).toEqual([
      { last_activity_at: '1' },
    ]);
  });

  it('raises the fence of an engine only after the transactions that it let through', async () => {
    const database = await newDatabase();
    const target = deployed(server.url(database));
    await (await openEngineStore(target, engine)).close();
    const through = expect(
      server.run(`select pg_advisory_xact_lock_shared(7006), pg_sleep(60)`, database),
    ).rejects.toThrow();
    const later = openEngineStore(target, engine);
    const waiting = `select count(*)::int as waiting from pg_locks where objid = 7006 and not granted`;
    await expect.poll(() => server.run(waiting, database), { timeout: 20_000 }).toEqual([{ waiting: 1 }]);
    await server.run(`select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%'
      and pid <> pg_backend_pid()`);
    await through;
    const { store, close } = await later;
    await store.activity.touch('s' as never, 1);
    await close();
  });

  it('remembers the seal key and the data directory that it was begun with', async () => {
    const { installation } = await open(await newDatabase());
    const [one, other] = [path.join(tempDir(), 'one'), path.join(tempDir(), 'other')];
    for (const folder of [one, other]) mkdirSync(folder);
    await installation.claim({ sealKeyId: 'k', dataDir: one });
    await installation.claim({ sealKeyId: 'k', dataDir: one });
    await installation.claim({ sealKeyId: 'k', dataDir: null });
    const key = await refusal(installation.claim({ sealKeyId: 'l', dataDir: one }));
    expect([key.code, key.remedy]).toEqual([
      'engine_misconfigured',
      'set PARLEY_SEAL_KEY to the same key in every process of the deployment',
    ]);
    const folder = await refusal(installation.claim({ sealKeyId: 'k', dataDir: other }));
    expect(folder.message).toMatch(/its sandboxes and archives are in another one$/);
  });

  it('keeps every append exactly once while its connections are cut', async () => {
    const database = await newDatabase();
    const store = await open(database);
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${database}' and application_name = 'parley test'`;
    const events = Array.from({ length: 200 }, (_, n) => ({ id: `e${n}`, timestamp: 't', kind: 'K' }));
    const counts = { done: 0, cut: 0 };
    const cuts: Promise<unknown>[] = [];
    const stored = await Promise.all(
      events.map(async (event) => {
        const count = await store.events.append(CONVERSATION, [event], 1);
        counts.done += 1;
        // With what is done, and not with time: on a slow machine something is done between two of them, too.
        if (counts.done % 20 === 0) cuts.push(server.run(cut).then(({ length }) => (counts.cut += length)));
        return count;
      }),
    );
    await Promise.all(cuts);
    expect(counts.cut).toBeGreaterThan(3);
    // Each says 1 for an event that is new: a repeat of a write that had been applied would say 0.
    expect(stored).toEqual(events.map(() => 1));
    const page = await store.events.events(CONVERSATION, { afterSequence: 0, limit: 1_000 });
    expect(page.map(({ sequence }) => sequence)).toEqual(events.map((_, n) => n + 1));
  });

  it('applies every journaled batch while its connections are cut, and says so', async () => {
    const database = await newDatabase();
    const { engine } = await open(database);
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = '${database}' and application_name = 'parley test'`;
    const ids = Array.from({ length: 40 }, (_, n) => sandboxNumber(n + 1));
    let cutOff = 0;
    const verdicts = await Promise.all(
      ids.map(async (id, index) => {
        const address = { machine: 'sandbox', id } as const;
        const kinds: string[] = [];
        for (const number of [1, 2, 3]) {
          const entry = { entity: address, number, settled: number - 1, inputs: [number] };
          const said = batch({ entities: [entity(address, { state: number })] });
          kinds.push((await engine.commitJournaled(entry, said)).kind);
          if (number === 2 && index % 10 === 0) cutOff += (await server.run(cut)).length;
        }
        return kinds;
      }),
    );
    expect(cutOff).toBeGreaterThan(0);
    expect(verdicts).toEqual(ids.map(() => ['applied', 'applied', 'applied']));
    const states = await Promise.all(ids.map((id) => engine.load({ machine: 'sandbox', id })));
    expect(states.map((one) => one?.state)).toEqual(ids.map(() => 3));
  });

  it('goes on after a crash of the server', async () => {
    const store = await open(await newDatabase());
    await store.events.append(CONVERSATION, [{ id: 'a', timestamp: 't', kind: 'K' }], 1);
    await server.stop('SIGQUIT');
    const writing = store.events.append(CONVERSATION, [{ id: 'b', timestamp: 't', kind: 'K' }], 1);
    await server.start();
    expect(await writing).toBe(1);
    expect(await store.events.count(CONVERSATION)).toBe(2);
  });
});
