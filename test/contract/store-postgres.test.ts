/**
 * The store on PostgreSQL, with one connection: what concurrent transactions do to each other is not seen here.
 */
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openStore, type Store } from '../../store/open-store.ts';
import { emptyServer, pglitePool } from './store-pglite.ts';
import { spendRow } from './store-rows.ts';
import { storeSuite } from './store-suite.ts';

let server: PGlite;
beforeAll(async () => {
  server = await PGlite.create();
});
afterAll(() => server.close());

async function open(): Promise<Store> {
  await emptyServer(server);
  const store = await openStore({ kind: 'postgres', pool: pglitePool(server) });
  onTestFinished(() => store.close());
  return store;
}

describe('PostgreSQL', () => {
  storeSuite(open);

  it('opens again without changing what is there', async () => {
    await (await open()).spend.write([spendRow('a')]);
    const again = await openStore({ kind: 'postgres', pool: pglitePool(server) });
    expect(await again.spend.search({})).toEqual([spendRow('a')]);
  });

  it('refuses a schema that is newer than the program', async () => {
    await open();
    await server.exec(`insert into kysely_migration (name, timestamp) values ('9999-later', 'x')`);
    const opening = openStore({ kind: 'postgres', pool: pglitePool(server) });
    await expect(opening).rejects.toMatchObject({
      code: 'store_unavailable',
      details: { schema: '9999-later' },
    });
  });

  it('refuses an amount that a number cannot hold', async () => {
    const store = await open();
    await store.spend.write([spendRow('a')]);
    await server.exec('update spend set cost_nano_usd = 9007199254740993');
    await expect(store.spend.search({})).rejects.toMatchObject({ code: 'internal' });
  });
});
