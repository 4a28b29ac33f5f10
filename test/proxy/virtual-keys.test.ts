/** Virtual keys over real HTTP and a real store: what they allow, how their limits hold, and that none leaks. */
import { describe, expect, it } from 'vitest';
import {
  entryFor,
  MASTER_KEY,
  openTestStore,
  send,
  startProxy,
  VENDOR,
  type ProxyUnderTest,
  type Received,
} from './proxy-under-test.ts';
import { answerJson, REPLY, startStubGateway } from './stub-gateway.ts';

const NOW = 1_784_900_000_000;
const PRICES = { input_cost_per_token: '0.000001', output_cost_per_token: '0' };

async function setUp(): Promise<
  ProxyUnderTest & { clock: { now: number }; gateway: Awaited<ReturnType<typeof startStubGateway>> }
> {
  const gateway = await startStubGateway();
  const clock = { now: NOW };
  const store = await openTestStore();
  const models = ['coder', 'other'].map((name) => ({
    ...entryFor(gateway.origin, PRICES),
    model_name: name,
  }));
  const proxy = await startProxy({ origin: gateway.origin, models, store, now: () => clock.now });
  return { ...proxy, clock, gateway };
}

function admin(url: string, path: string, body?: object): Promise<Received> {
  const method = body === undefined ? 'GET' : 'POST';
  return send({ url, path, method, key: MASTER_KEY, body: JSON.stringify(body ?? {}) });
}

async function makeKey(
  url: string,
  body: object = {},
): Promise<{ key: string; token: string; key_alias: string }> {
  const made = await admin(url, '/key/generate', body);
  expect(made.status).toBe(200);
  return JSON.parse(made.body) as { key: string; token: string; key_alias: string };
}

describe('a virtual key', () => {
  it('opens its models and no admin route, and puts its owner on every row', async () => {
    const { url, rows } = await setUp();
    const { key } = await makeKey(url, {
      ...{ key_alias: 'search/ci', team_id: 'search', user_id: 'ada', models: ['coder'] },
      ...{ tags: ['ci'], metadata: { project: 'p1', stage: 'a' } },
    });
    const headers = {
      [`x-${VENDOR}-spend-logs-metadata`]: '{"stage":"b"}',
      [`x-${VENDOR}-tags`]: 'ci, nightly',
    };
    expect((await send({ url, key, headers })).status).toBe(200);
    const refused = await send({ url, key, body: '{"model":"other","messages":[]}' });
    expect([refused.status, refused.json().error.code]).toEqual([403, 'forbidden']);
    const list = await send({ url, key, path: '/v1/models', method: 'GET' });
    expect(list.body).not.toContain('"other"');
    for (const path of ['/key/list', '/spend/logs', '/metrics', '/model/info', '/health'])
      expect((await send({ url, key, path, method: 'GET' })).status).toBe(403);
    expect(await rows()).toMatchObject([
      {
        ...{ keyName: 'search/ci', team: 'search', user: 'ada', tags: ['ci', 'nightly'] },
        metadata: { project: 'p1', stage: 'b' },
      },
    ]);
  });

  it('is shown once and stored as its digest', async () => {
    const { url } = await setUp();
    const { key, token } = await makeKey(url, { key_alias: 'once' });
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    for (const path of ['/key/list', `/key/info?key=${token}`, `/key/info?key=${key}`]) {
      const shown = await admin(url, path);
      expect([shown.status, shown.body.includes(key), shown.body.includes('once')]).toEqual([
        200,
        false,
        true,
      ]);
    }
  });

  it('ends at its expiry, when it is blocked, and when it is deleted', async () => {
    const { url, clock } = await setUp();
    const { key } = await makeKey(url, { duration: '1h' });
    clock.now += 3_599_999;
    expect((await send({ url, key })).status).toBe(200);
    clock.now += 1;
    expect((await send({ url, key })).json().error.code).toBe('unauthorized');
    const { key: other, token } = await makeKey(url);
    await admin(url, '/key/block', { key: token });
    expect((await send({ url, key: other })).status).toBe(401);
    await admin(url, '/key/unblock', { key: other });
    expect((await send({ url, key: other })).status).toBe(200);
    const deleted = await admin(url, '/key/delete', { keys: [other, 'sk-unknown'] });
    expect(JSON.parse(deleted.body)).toEqual({ deleted_keys: [token] });
    expect((await send({ url, key: other })).status).toBe(401);
    expect((await admin(url, `/key/info?key=${token}`)).status).toBe(404);
  });

  it('may make so many requests a minute, and is told when the next minute begins', async () => {
    const { url, clock } = await setUp();
    clock.now = NOW - (NOW % 60_000) + 10_000;
    const { key } = await makeKey(url, { rpm_limit: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await send({ url, key })).status);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await send({ url, key });
    expect([refused.json().error.code, refused.headers['retry-after']]).toEqual(['rate_limited', '50']);
    clock.now += 50_000;
    expect((await send({ url, key })).status).toBe(200);
  });

  it('may use so many tokens a minute', async () => {
    const { url, clock, rows } = await setUp();
    const { key } = await makeKey(url, { tpm_limit: 20 });
    expect((await send({ url, key })).status).toBe(200);
    expect((await send({ url, key })).status).toBe(200);
    expect((await send({ url, key })).json().error.code).toBe('rate_limited');
    clock.now += 60_000;
    expect((await send({ url, key })).status).toBe(200);
    expect(await rows()).toHaveLength(3);
  });

  it('may have so many calls at one time', async () => {
    const { url, gateway } = await setUp();
    const { key } = await makeKey(url, { max_parallel_requests: 1 });
    let release: () => void = () => undefined;
    gateway.answer = (res, seen) => void (release = () => answerJson(200, REPLY)(res, seen));
    const first = send({ url, key });
    await gateway.arrival(1);
    expect((await send({ url, key })).status).toBe(429);
    release();
    expect((await first).status).toBe(200);
    gateway.answer = answerJson(200, REPLY);
    expect((await send({ url, key })).status).toBe(200);
  });

  it('has a budget for each window, which a restart does not give anew', async () => {
    const gateway = await startStubGateway();
    const clock = { now: NOW };
    const store = await openTestStore();
    const setup = { origin: gateway.origin, params: PRICES, store, now: () => clock.now };
    const first = await startProxy(setup);
    // A call costs 10 × 1,000 nano-USD; two are below the budget, the third begins below it and goes beyond.
    const { key } = await makeKey(first.url, { max_budget: 0.000025, budget_duration: '1h' });
    for (let i = 0; i < 3; i += 1) expect((await send({ url: first.url, key })).status).toBe(200);
    const refused = await send({ url: first.url, key });
    expect([refused.status, refused.json().error.code]).toEqual([429, 'budget_exceeded']);
    expect(refused.headers['retry-after']).toBe('3600');
    await first.proxy.close(0);
    const second = await startProxy({ ...setup, now: () => clock.now });
    expect((await send({ url: second.url, key })).status).toBe(429);
    const shown = await admin(second.url, `/key/info?key=${key}`);
    expect((JSON.parse(shown.body) as { spend_nano_usd: number }).spend_nano_usd).toBe(30_000);
    clock.now += 3_600_000;
    expect((await send({ url: second.url, key })).status).toBe(200);
  });

  it.each([
    [{ rpm_limit: -1 }, 'rpm_limit'],
    [{ max_budget: 'much' }, 'max_budget'],
    [{ budget_duration: '1h' }, 'budget_duration'],
    [{ duration: '1 month' }, 'duration'],
    [{ models: 'coder' }, 'models'],
    [{ key_alias: '' }, 'key_alias'],
    [{ metadata: [] }, 'metadata'],
    [{ max_tokens: 1 }, 'max_tokens'],
  ])('is not made from %j', async (body, field) => {
    const { url } = await setUp();
    const refused = await admin(url, '/key/generate', body);
    expect([refused.status, refused.json().error.param]).toEqual([400, field]);
  });

  it('has a name of its own, and belongs to one team or user in the list', async () => {
    const { url } = await setUp();
    await makeKey(url, { key_alias: 'a', team_id: 't1' });
    await makeKey(url, { key_alias: 'b', user_id: 'u1' });
    expect((await admin(url, '/key/generate', { key_alias: 'a' })).json().error.param).toBe('key_alias');
    const names = async (query: string): Promise<string[]> => {
      const { body } = await admin(url, `/key/list${query}`);
      return (JSON.parse(body) as { keys: { key_alias: string }[] }).keys.map((one) => one.key_alias);
    };
    expect(await names('')).toEqual(['a', 'b']);
    expect(await names('?team_id=t1')).toEqual(['a']);
    expect(await names('?user_id=u1')).toEqual(['b']);
  });
});

it('a proxy without keys says so', async () => {
  const gateway = await startStubGateway();
  const { url } = await startProxy({ origin: gateway.origin });
  expect((await admin(url, '/key/list')).status).toBe(404);
  expect((await admin(url, '/spend/daily')).status).toBe(404);
});

describe('POST /key/update', () => {
  it('changes what it names from the next call on, keeps the rest, and takes a limit away with null', async () => {
    const { url } = await setUp();
    const { key, token } = await makeKey(url, {
      key_alias: 'team',
      models: ['coder'],
      rpm_limit: 1,
      tags: ['a'],
    });
    expect((await send({ url, key })).status).toBe(200);
    expect((await send({ url, key })).status).toBe(429);
    const changed = await admin(url, '/key/update', { key: token, rpm_limit: null, team_id: 'search' });
    expect(changed.status).toBe(200);
    expect(JSON.parse(changed.body)).toMatchObject({
      ...{ key: token, token, key_alias: 'team', models: ['coder'], tags: ['a'] },
      ...{ rpm_limit: null, team_id: 'search' },
    });
    expect(changed.body).not.toContain(key);
    expect((await send({ url, key })).status).toBe(200);
    expect((await admin(url, '/key/update', { key, models: ['other'] })).status).toBe(200);
    expect((await send({ url, key })).status).toBe(403);
  });

  it('gives a budget to a key that had none, over what it has spent already', async () => {
    const { url, clock } = await setUp();
    const { key } = await makeKey(url, { key_alias: 'late' });
    for (let i = 0; i < 2; i += 1) expect((await send({ url, key })).status).toBe(200);
    // 10 tokens a call: 0.00001 USD.
    expect((await admin(url, '/key/update', { key, max_budget: 0.00003 })).status).toBe(200);
    expect((await send({ url, key })).status).toBe(200);
    expect((await send({ url, key })).json().error.code).toBe('budget_exceeded');
    const shown = JSON.parse((await admin(url, `/key/info?key=${key}`)).body) as { info: object };
    expect(shown).toMatchObject({ spend_nano_usd: 30_000, max_budget_nano_usd: 30_000 });
    expect(shown.info).toMatchObject({
      key_alias: 'late',
      spend: 0.00003,
      max_budget: 0.00003,
      blocked: false,
    });
    expect((await admin(url, '/key/update', { key, duration: '1h' })).status).toBe(200);
    clock.now += 3_600_000;
    expect((await send({ url, key })).status).toBe(401);
  });

  it.each<[object, number, string]>([
    [{ key_alias: 'another' }, 400, 'key_alias'],
    [{ max_budget: -1 }, 400, 'max_budget'],
    [{ budget_duration: '1d' }, 400, 'budget_duration'],
    [{ nonsense: 1 }, 400, 'nonsense'],
    [{ key: 'sk-unknown' }, 404, 'key'],
  ])('refuses %j and changes nothing', async (change, status, param) => {
    const { url } = await setUp();
    const { token } = await makeKey(url, { key_alias: 'kept' });
    const before = (await admin(url, `/key/info?key=${token}`)).body;
    const refused = await admin(url, '/key/update', { key: token, ...change });
    expect([refused.status, refused.json().error.param]).toEqual([status, param]);
    expect((await admin(url, `/key/info?key=${token}`)).body).toBe(before);
  });
});
