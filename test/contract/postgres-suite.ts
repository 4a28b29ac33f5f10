/**
 * The contract of the store on a real PostgreSQL server, through the driver and a pool: here transactions do meet each
 * other. Owns its database; the including test file starts the server.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openStore, type Store } from '../../store/open-store.ts';
import { parsePostgresUrl } from '../../store/sql/postgres-address.ts';
import { createPostgresPool } from '../../store/sql/postgres-pool.ts';
import type { StorePool } from '../../store/sql/postgres.ts';
import type { PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { spendRow } from './store-rows.ts';
import { storeSuite } from './store-suite.ts';

const DATABASE = 'contract';
/** An image may have to be pulled or made. */
const START_MS_MAX = 600_000;
const EMPTY_ALL = `do $$ declare one text; begin
  for one in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%'
  loop execute 'delete from ' || quote_ident(one); end loop; end $$`;

export function postgresSuite(start: () => Promise<PostgresServerProcess>): void {
  let server: PostgresServerProcess;
  beforeAll(async () => {
    server = await start();
  }, START_MS_MAX);
  afterAll(() => server.close());

  function pool(): StorePool {
    const options = { poolMax: 4, statementTimeoutMs: 30_000, tls: null, schema: null };
    return createPostgresPool(
      { address: parsePostgresUrl(server.url(DATABASE)), ...options },
      { readOnly: false, name: 'parley test' },
    );
  }

  beforeAll(async () => {
    await server.createDatabase(DATABASE);
    await (await openStore({ kind: 'postgres', pool: pool() })).close();
  });

  /** Emptied, and not made anew: a database costs a server more than a test. */
  async function open(): Promise<Store> {
    await server.run(EMPTY_ALL, DATABASE);
    const store = await openStore({ kind: 'postgres', pool: pool() });
    onTestFinished(() => store.close());
    return store;
  }

  describe('the contract', () => {
    storeSuite(open);
  });

  it('refuses an amount that a number cannot hold, and reads the largest one that it can exactly', async () => {
    const store = await open();
    await store.spend.write([spendRow('a')]);
    await server.run(`update spend set cost_nano_usd = ${Number.MAX_SAFE_INTEGER}`, DATABASE);
    expect((await store.spend.search({}))[0]?.cost).toBe(Number.MAX_SAFE_INTEGER);
    await server.run('update spend set cost_nano_usd = 9007199254740993', DATABASE);
    await expect(store.spend.search({})).rejects.toMatchObject({ code: 'internal' });
  });
}
