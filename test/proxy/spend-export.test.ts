/** Reading spend over HTTP from a real store: filters, pages, CSV, daily totals, retention; and the other admin routes. */
import { describe, expect, it } from 'vitest';
import type { SpendRow } from '../../core/money/spend.ts';
import { SpendRetention } from '../../proxy/spend/spend-retention.ts';
import { spendRow } from '../contract/store-rows.ts';
import {
  AGENT_KEY,
  entryFor,
  GATEWAY_KEY,
  MASTER_KEY,
  openTestStore,
  send,
  SILENT_LOG,
  startProxy,
  VENDOR,
  type Received,
} from './proxy-under-test.ts';
import { answerJson, startStubGateway } from './stub-gateway.ts';

const DAY_MS = 86_400_000;

function get(url: string, path: string): Promise<Received> {
  return send({ url, path, method: 'GET', key: MASTER_KEY });
}

async function withRows(rows: readonly SpendRow[]) {
  const store = await openTestStore();
  const { url } = await startProxy({ origin: 'http://127.0.0.1:1', store });
  await store.spend.write(rows);
  return { url, store };
}

function idsIn(received: Received): string[] {
  return received.body
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as SpendRow).callId);
}

describe('GET /spend/logs', () => {
  it.each([
    ['key=k1', ['a']],
    ['user=bob', ['b']],
    ['team=t1', ['a', 'c']],
    ['tag=ci', ['a', 'b']],
    ['metadata.project=p1', ['a', 'c']],
    ['metadata.project=p1&metadata.stage=2', ['c']],
    ['model=large&tag=ci', ['b']],
    ['from=20', ['b', 'c']],
    ['team=nobody', []],
  ])('filters by %s', async (query, expected) => {
    const { url } = await withRows([
      spendRow('a', { startedAt: 10, keyName: 'k1', team: 't1', tags: ['ci'], metadata: { project: 'p1' } }),
      spendRow('b', { startedAt: 20, user: 'bob', tags: ['x', 'ci'], modelName: 'large', metadata: null }),
      spendRow('c', { startedAt: 30, team: 't1', metadata: { project: 'p1', stage: 2 } }),
    ]);
    expect(idsIn(await get(url, `/spend/logs?${query}`))).toEqual(expected);
  });

  it.each(['colour=x', 'limit=0', 'limit=1001', 'cursor=abc', 'format=xml', 'to=soon'])(
    'refuses %s',
    async (query) => {
      const { url } = await withRows([]);
      const received = await get(url, `/spend/logs?${query}`);
      expect([received.status, received.json().error.param]).toEqual([400, query.split('=')[0]]);
    },
  );

  it('gives pages that add up to the whole, while rows come in', async () => {
    const rows = Array.from({ length: 25 }, (_, i) => spendRow(`call-${i + 10}`, { startedAt: i % 3 }));
    const { url, store } = await withRows(rows);
    const whole = idsIn(await get(url, '/spend/logs'));
    const pages: string[] = [];
    for (let cursor = ''; ;) {
      const page = await get(url, `/spend/logs?limit=7${cursor}`);
      pages.push(...idsIn(page));
      const next = page.headers[`x-${VENDOR}-next-cursor`];
      if (next === undefined) break;
      cursor = `&cursor=${next}`;
      await store.spend.write([spendRow('call-00', { startedAt: 0 })]);
    }
    expect(pages).toEqual(whole);
  });

  it('writes CSV with one header over all pages, and no cell that a spreadsheet would compute', async () => {
    const { url } = await withRows([
      spendRow('a', { startedAt: 0, user: '=1+1', modelName: 'a,"b"', cost: null, costSource: 'unpriced' }),
      spendRow('b', { startedAt: 1, tags: ['x', 'y'], team: 't' }),
    ]);
    const whole = await get(url, '/spend/logs?format=csv');
    expect(whole.headers['content-type']).toBe('text/csv; charset=utf-8');
    const [header = '', first = '', second = ''] = whole.body.split('\r\n');
    expect(header.split(',')).toHaveLength(21);
    expect(first).toContain(`a,succeeded,1970-01-01T00:00:00.000Z`);
    expect(first).toContain(`"a,""b"""`);
    expect(first).toContain(`,'=1+1,`);
    expect(first).toContain(',unpriced,');
    expect(second).toContain(`,t,`);
    expect(second).toContain(`"[""x"",""y""]"`);
    const one = await get(url, '/spend/logs?format=csv&limit=1');
    const next = one.headers[`x-${VENDOR}-next-cursor`];
    const two = await get(url, `/spend/logs?format=csv&limit=1&cursor=${next}`);
    expect(one.body + two.body).toBe(whole.body);
  });
});

describe('daily totals', () => {
  it('count each call once, before and after old rows are folded', async () => {
    const rows = [
      spendRow('a', { startedAt: 5 }),
      spendRow('b', { startedAt: DAY_MS + 5, cost: null, costSource: 'unpriced' }),
      spendRow('c', { startedAt: 9 * DAY_MS }),
    ];
    const { url, store } = await withRows(rows);
    const daily = async (): Promise<unknown> => JSON.parse((await get(url, '/spend/daily')).body);
    const before = await daily();
    expect(before).toMatchObject({
      data: [
        { day: '1970-01-01', calls: 1, unpriced: 0, costNanoUsd: 123 },
        { day: '1970-01-02', calls: 1, unpriced: 1, costNanoUsd: 0 },
        { day: '1970-01-10', calls: 1, unpriced: 0, costNanoUsd: 123 },
      ],
    });
    let days: number | null = null;
    let leads = false;
    const clock = { now: () => 9 * DAY_MS + 1_000 };
    const { accounts } = store;
    const folded: number[] = [];
    const retention = new SpendRetention({
      accounts,
      clock,
      log: SILENT_LOG,
      leads: () => leads,
      days: () => days,
      onFold: (before) => void folded.push(before),
    });
    await retention.fold();
    expect(await store.spend.search({})).toHaveLength(3);
    days = 8;
    // Another makes the totals; what is kept of the spool is each one's own.
    await retention.fold();
    expect(await store.spend.search({})).toHaveLength(3);
    leads = true;
    await retention.fold();
    expect((await store.spend.search({})).map((row) => row.callId)).toEqual(['b', 'c']);
    expect(await daily()).toEqual(before);
    // Of what is kept of the spool, nothing of that time may be brought back.
    expect(folded).toEqual([DAY_MS, DAY_MS]);
    await retention.stop();
  });
});

describe('the other admin routes', () => {
  it('show entries without their keys, and delete what was added', async () => {
    const { url } = await startProxy({ origin: 'http://127.0.0.1:1' });
    const added = { ...entryFor('http://127.0.0.1:1'), model_name: 'added' };
    const post = (path: string, body: object): Promise<Received> =>
      send({ url, path, key: MASTER_KEY, body: JSON.stringify(body) });
    const { model_id: id } = JSON.parse((await post('/model/new', added)).body) as { model_id: string };
    const info = await get(url, '/model/info');
    const { data } = JSON.parse(info.body) as { data: { model_name: string; model_info: { id: string } }[] };
    expect(data.map((row) => row.model_name)).toEqual(['coder', 'added']);
    expect(info.body).not.toContain(GATEWAY_KEY);
    expect((await get(url, `/model/info?model_id=${id}`)).body).toContain('"added"');
    expect((await post('/model/delete', { id: data[0]?.model_info.id })).json().error.message).toContain(
      'it is in the configuration',
    );
    expect((await post('/model/delete', { id: 'none' })).status).toBe(404);
    expect((await post('/model/delete', {})).json().error.param).toBe('id');
    expect((await post('/model/delete', { id })).status).toBe(200);
    expect((await send({ url, body: '{"model":"added","messages":[]}' })).status).toBe(404);
  });

  it('tell health and figures from the calls that were made, with no key and no text of a call', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const planted = '{"model":"coder","messages":[{"role":"user","content":"planted-text"}]}';
    await send({ url, body: planted });
    expect((await get(url, '/health')).body).toContain('"healthy_count":1,"unhealthy_count":0');
    gateway.answer = answerJson(401, '{"error":{"message":"bad key"}}');
    await send({ url, body: planted });
    const health = await get(url, '/health');
    expect(health.body).toContain('"healthy_count":0,"unhealthy_count":1');
    expect(JSON.parse(health.body)).toMatchObject({
      unhealthy_endpoints: [{ model_name: 'coder', calls: 2, failures: 1, last_status: 401 }],
    });
    expect(gateway.seen).toHaveLength(2);
    const { body } = await get(url, '/metrics');
    const sample = (state: string, status: number): string =>
      `parley_proxy_calls_total{model="coder",route="/v1/chat/completions",state="${state}",status="${status}"} 1\n`;
    expect(body).toContain(sample('succeeded', 200));
    expect(body).toContain(sample('failed', 401));
    expect(body).toContain('parley_proxy_tokens_total{model="coder",kind="prompt"} 10\n');
    expect(body).toContain('parley_proxy_unpriced_calls_total{model="coder"} 2\n');
    expect(body).toContain('parley_proxy_call_duration_seconds_count{model="coder"} 2\n');
    for (const secret of ['planted-text', AGENT_KEY, MASTER_KEY, GATEWAY_KEY, gateway.origin])
      expect(`${body}${health.body}`).not.toContain(secret);
  });
});
