/** Several `parley proxy` over one PostgreSQL: one budget, one limit, one list of keys and models (D30). */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { MASTER_KEY, send } from './proxy-under-test.ts';
import {
  alternate,
  ask,
  CALL_NANO_USD,
  makeKey,
  openGround,
  spentBy,
  type SharedGround,
} from './shared-ground.ts';

/** The most that one call of the tests may cost: its prompt by bytes, and 100 tokens. */
const BOUND_NANO_USD = 20_000_000;
const BUDGET_USD = 1;
const BUDGET_NANO_USD = BUDGET_USD * 1e9;
const CALLERS = 12;
/** The share of one that dies: what its calls in flight hold, and a sixteenth of the budget. */
const DEAD_SHARE_NANO_USD = CALLERS * BOUND_NANO_USD + BUDGET_NANO_USD / 16;

describeWith('postgres', 'proxies over one database', () => {
  let server: PostgresServerProcess;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  let databases = 0;
  async function ground(settings: object = {}): Promise<SharedGround> {
    databases += 1;
    return openGround(await server.createDatabase(`shared_${databases}`), settings);
  }

  it('spend one budget once, call for call as the gateway bills it', async () => {
    const own = await ground();
    const proxies = [await own.start(), await own.start()];
    const urls = proxies.map(({ url }) => url);
    const key = await makeKey(urls[0] ?? '', { key_alias: 'k', max_budget: BUDGET_USD });
    const seen = await alternate(urls, key, { callers: CALLERS, isEnough: (status) => status !== 200 });
    expect([...seen.keys()].sort()).toEqual([200, 429]);
    const refusals = await Promise.all(urls.map((url) => ask(url, key)));
    expect(refusals.map(({ status }) => status)).toEqual([429, 429]);
    expect(refusals.map((reply) => reply.json().error.code)).toEqual(['budget_exceeded', 'budget_exceeded']);

    const bill = await own.bill();
    const billed = [...bill.values()].reduce((sum, cost) => sum + cost, 0);
    expect(billed).toBeLessThanOrEqual(BUDGET_NANO_USD);
    expect(billed).toBeGreaterThan(BUDGET_NANO_USD - BOUND_NANO_USD - CALL_NANO_USD);
    await proxies[1]?.rows();
    const rows = (await proxies[0]?.rows()) ?? [];
    expect(new Map(rows.map((row) => [row.responseId, row.cost]))).toEqual(bill);
    expect(rows).toHaveLength(bill.size);
    expect(new Set(rows.map((row) => row.proxyId)).size).toBe(2);
    for (const proxy of proxies) expect(await proxy.end('SIGTERM')).toBe(0);
  });

  it('lose no row and no money when one of three is killed: its lease comes back, another drains its spool', async () => {
    const own = await ground();
    const proxies = [await own.start(), await own.start(), await own.start()];
    const urls = proxies.map(({ url }) => url);
    const key = await makeKey(urls[0] ?? '', { key_alias: 'k', max_budget: BUDGET_USD });
    const victim = proxies[2];
    const hasRows = (): boolean => readdirSync(path.join(own.folder, 'data', 'proxy-3', 'spool')).length > 0;
    let isKilled = false;
    await alternate(urls, key, {
      callers: CALLERS,
      isEnough: (_, calls) => {
        if (calls >= 30 && !isKilled && hasRows()) isKilled = victim?.child.kill('SIGKILL') ?? true;
        return isKilled ? calls >= 60 : calls >= 80;
      },
    });
    expect(isKilled).toBe(true);
    const living = proxies.slice(0, 2);
    await Promise.race(living.map((proxy) => proxy.said('A proxy is dead')));
    // Between the check and the signal the last of its rows may have gone to the store.
    await expect.poll(hasRows, { timeout: 60_000 }).toBe(false);
    const seen = await alternate(urls.slice(0, 2), key, { callers: 6, isEnough: (status) => status !== 200 });
    expect([...seen.keys()].sort()).toEqual([200, 429]);

    const bill = await own.bill();
    await living[1]?.rows();
    const rows = (await living[0]?.rows()) ?? [];
    const priced = rows.filter(({ cost }) => cost !== null);
    const lost = rows.filter(({ state }) => state === 'interrupted');
    // Each row that has a price is one of the bill; what was in flight in the killed process is known by its open row.
    for (const row of priced) expect(bill.get(row.responseId ?? '')).toBe(row.cost);
    expect(new Set(priced.map((row) => row.responseId)).size).toBe(priced.length);
    expect(priced.length).toBeLessThanOrEqual(bill.size);
    expect(bill.size - priced.length).toBeLessThanOrEqual(lost.length);
    expect(rows.filter(({ state }) => state === 'open')).toEqual([]);
    expect(lost.length).toBeLessThanOrEqual(CALLERS);
    const spent = spentBy(rows);
    // Calls of the killed one of which no row had reached the database count only once its spool is found.
    expect(spent).toBeLessThanOrEqual(BUDGET_NANO_USD + DEAD_SHARE_NANO_USD);
    // All of its share that was not used is spent by the others in the end.
    expect(spent).toBeGreaterThan(BUDGET_NANO_USD - BOUND_NANO_USD - CALL_NANO_USD);
  });

  it('count requests of a minute and calls at one time together', async () => {
    const own = await ground();
    const urls = [(await own.start()).url, (await own.start()).url];
    const narrow = await makeKey(urls[0] ?? '', { key_alias: 'narrow', max_parallel_requests: 3 });
    const slow = await Promise.all(
      Array.from({ length: 12 }, (_, i) => ask(urls[i % 2] ?? '', narrow, 'slowly')),
    );
    const served = slow.filter(({ status }) => status === 200).length;
    expect([served > 0, served <= 3]).toEqual([true, true]);
    expect(slow.filter(({ status }) => status === 429)).toHaveLength(12 - served);
    const few = await makeKey(urls[0] ?? '', { key_alias: 'few', rpm_limit: 40 });
    const minute = Math.floor(Date.now() / 60_000);
    const seen = await alternate(urls, few, { callers: 4, isEnough: (_, calls) => calls >= 80 });
    const minutes = Math.floor(Date.now() / 60_000) - minute + 1;
    expect(seen.get(200)).toBeLessThanOrEqual(40 * minutes);
    // A slice that the other proxy has not used in this minute may stay unused.
    expect(seen.get(200)).toBeGreaterThanOrEqual(40 - 3);
  });

  it('show a model and a changed key on all of them, and forget the model with the last', async () => {
    const own = await ground();
    const proxies = [await own.start(), await own.start()];
    const [one, two] = proxies.map(({ url }) => url) as [string, string];
    const added = { ...own.entry('added'), proxyvendor_params: undefined };
    const entry = { ...own.entry('added'), model_info: { id: "it's <b>one</b>" } };
    expect(
      (await send({ url: one, path: '/model/new', key: MASTER_KEY, body: JSON.stringify(added) })).status,
    ).toBe(400);
    expect(
      (await send({ url: one, path: '/model/new', key: MASTER_KEY, body: JSON.stringify(entry) })).status,
    ).toBe(200);
    const names = async (url: string): Promise<string> =>
      (await send({ url, path: '/v1/models', method: 'GET', key: MASTER_KEY })).body;
    await expect.poll(() => names(two)).toContain('"added"');
    const key = await makeKey(one, { key_alias: 'k' });
    expect((await ask(two, key)).status).toBe(200);
    await send({ url: one, path: '/key/block', key: MASTER_KEY, body: JSON.stringify({ key }) });
    await expect.poll(async () => (await ask(two, key)).status, { timeout: 10_000 }).toBe(401);
    // One that starts later has it too; none of it stands in the database in clear.
    const third = await own.start();
    expect(await names(third.url)).toContain('"added"');
    const sealed = await server.run('select name, sealed from parley_proxy.secret', `shared_${databases}`);
    expect(sealed).toHaveLength(1);
    expect(JSON.stringify(sealed)).not.toContain('openai/vendor');
    await send({
      url: two,
      path: '/model/delete',
      key: MASTER_KEY,
      body: JSON.stringify({ id: "it's <b>one</b>" }),
    });
    await expect.poll(() => names(third.url)).not.toContain('"added"');
    await send({ url: one, path: '/model/new', key: MASTER_KEY, body: JSON.stringify(entry) });
    for (const proxy of [...proxies, third]) expect(await proxy.end('SIGTERM')).toBe(0);
    expect(await names((await own.start()).url)).not.toContain('"added"');
  });
});
