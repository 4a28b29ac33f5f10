/** Spend rows: opened before dispatch, priced exactly, kept while the store is away (D26). */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';
import { MemorySpendLog } from './memory-spend-log.ts';
import {
  AGENT_KEY,
  BODY,
  MASTER_KEY,
  PLAIN_KEY,
  send,
  SESSION_ID,
  startProxy,
  VENDOR,
} from './proxy-under-test.ts';
import { answerJson, REPLY, startStubGateway } from './stub-gateway.ts';

const PRICES = { input_cost_per_token: '0.00000025', output_cost_per_token: '0.0000000005' };

function withUsage(usage: string): string {
  return `{"id":"resp-2","choices":[],"usage":${usage}}`;
}

describe('a spend row', () => {
  it('holds the whole call', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin, params: PRICES });
    const headers = { [`x-${VENDOR}-spend-logs-metadata`]: '{"project":{"a":1}}' };
    await send({ url, headers, body: '{"model":"coder","messages":[],"user":"body-user"}' });
    expect(await rows()).toEqual([
      {
        callId: 'call-0001',
        state: 'succeeded',
        startedAt: 1_001,
        endedAt: 1_001,
        route: '/v1/chat/completions',
        modelName: 'coder',
        upstreamModel: 'prov/up',
        streamed: false,
        httpStatus: 200,
        responseId: 'resp-1',
        sessionId: SESSION_ID,
        user: 'body-user',
        keyName: 'agent-key',
        promptTokens: 10,
        completionTokens: 3,
        cachedTokens: 4,
        // 10 × 250 + 3 × 0.5 nano-USD is 2501.5, half-even 2502.
        cost: 2_502,
        costSource: 'entry',
        metadata: { project: { a: 1 } },
      },
    ]);
  });

  it('is open in the spool before the gateway is asked', async () => {
    const spend = new MemorySpendLog();
    const seenOpen: string[] = [];
    const gateway = await startStubGateway();
    const { url, spoolDir } = await startProxy({ origin: gateway.origin, spend });
    gateway.answer = (res, seen) => {
      seenOpen.push(...readdirSync(spoolDir));
      answerJson(200, REPLY)(res, seen);
    };
    await send({ url });
    expect(seenOpen).toHaveLength(1);
  });

  it('takes the price of the entry, else the amount of the gateway, else none', async () => {
    const gateway = await startStubGateway();
    const { url, spend } = await startProxy({ origin: gateway.origin });
    const tokens = '"prompt_tokens":1,"completion_tokens":1';
    const table: readonly [string, Record<string, string>, number | null, string][] = [
      [`{${tokens},"cost":0.0000012}`, { 'x-gw-response-cost': '5' }, 1_200, 'gateway'],
      [`{${tokens},"cost":1.2e-6}`, {}, 1_200, 'gateway'],
      [`{${tokens}}`, { 'x-gw-response-cost': '0.000003' }, 3_000, 'gateway'],
      [`{${tokens}}`, { 'x-gw-response-cost': 'None', 'x-gw-response-cost-input': '1' }, null, 'unpriced'],
      [`{${tokens}}`, {}, null, 'unpriced'],
      ['null', {}, null, 'unpriced'],
    ];
    for (const [usage, headers] of table) {
      gateway.answer = answerJson(200, withUsage(usage), headers);
      await send({ url });
    }
    await send({ url, path: '/spend/logs', method: 'GET', key: MASTER_KEY });
    const found = [...spend.rows.values()].map((row) => [row.cost, row.costSource]);
    expect(found).toEqual(table.map(([, , cost, source]) => [cost, source]));
  });

  it('records bad metadata as invalid without failing the call', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    for (const value of ['{', '[1]', '"x"']) {
      const received = await send({ url, headers: { [`x-${VENDOR}-spend-logs-metadata`]: value } });
      expect(received.status).toBe(200);
    }
    expect((await rows()).map((row) => row.metadata)).toEqual(['invalid', 'invalid', 'invalid']);
  });

  it('reads metadata and tags in UTF-8, and bytes that are none as Latin-1', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const asBytes = (text: string): string => Buffer.from(text).toString('latin1');
    for (const spell of [asBytes, (text: string) => text]) {
      const headers = {
        [`x-${VENDOR}-spend-logs-metadata`]: spell('{"team":"Jürgen"}'),
        [`x-${VENDOR}-tags`]: spell('für,größe'),
      };
      // A text would go out as one with the headers, and in UTF-8.
      expect((await send({ url, headers, body: Buffer.from(BODY) })).status).toBe(200);
    }
    for (const row of await rows())
      expect([row.metadata, row.tags]).toEqual([{ team: 'Jürgen' }, ['für', 'größe']]);
  });

  it('takes the session from the header only when the key is bound to none', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const other = 'FFFFFFFF-0000-0000-0000-000000000001';
    for (const [key, named] of [
      [AGENT_KEY, other],
      [PLAIN_KEY, other],
      [PLAIN_KEY, 'free text'],
    ] as const) {
      await send({ url, key, headers: { [`x-${VENDOR}-session-id`]: named } });
    }
    const sessions = (await rows()).map((row) => row.sessionId);
    expect(sessions).toEqual([SESSION_ID, 'ffffffff000000000000000000000001', null]);
  });
});

describe('the spool', () => {
  it('keeps rows while the store is away and brings each to it once', async () => {
    const gateway = await startStubGateway();
    const { url, spend, rows, spoolDir, proxy } = await startProxy({ origin: gateway.origin });
    spend.isAway = true;
    for (let i = 0; i < 5; i += 1) expect((await send({ url })).status).toBe(200);
    const away = await send({ url, path: '/spend/logs', method: 'GET', key: MASTER_KEY });
    expect([away.status, away.json().error.code]).toEqual([503, 'store_unavailable']);
    expect(proxy.metrics()).toMatchObject({ isStoreReachable: false, succeeded: 5 });
    expect((await send({ url, path: '/health/readiness', method: 'GET', key: null })).body).toContain(
      'spooling',
    );
    spend.isAway = false;
    expect((await rows()).map((row) => row.state)).toEqual(Array(5).fill('succeeded'));
    expect(readdirSync(spoolDir)).toEqual([]);
    expect(proxy.metrics()).toMatchObject({ isStoreReachable: true, spoolBytes: 0 });
  });

  it('is replayed on the next start, after which nothing is left', async () => {
    const gateway = await startStubGateway();
    const spoolDir = path.join(tempDir(), 'spool');
    const away = new MemorySpendLog();
    const first = await startProxy({ origin: gateway.origin, spend: away, spoolDir });
    away.isAway = true;
    await send({ url: first.url });
    await first.proxy.close(0);
    expect(readdirSync(spoolDir).length).toBeGreaterThan(0);
    const spend = new MemorySpendLog();
    await startProxy({ origin: gateway.origin, spend, spoolDir });
    expect([...spend.rows.values()].map((row) => [row.callId, row.state])).toEqual([
      ['call-0001', 'succeeded'],
    ]);
    expect(readdirSync(spoolDir)).toEqual([]);
  });

  it('never lets a start with the store away interrupt its own calls', async () => {
    const gateway = await startStubGateway();
    const spend = new MemorySpendLog();
    spend.isAway = true;
    const { url, rows } = await startProxy({ origin: gateway.origin, spend });
    let release: () => void = () => undefined;
    gateway.answer = (res, seen) => void (release = () => answerJson(200, REPLY)(res, seen));
    const call = send({ url });
    await gateway.arrival(1);
    spend.isAway = false;
    expect((await rows()).map((row) => row.state)).toEqual(['open']);
    release();
    await call;
    expect((await rows()).map((row) => row.state)).toEqual(['succeeded']);
  });
});

describe('GET /spend/logs', () => {
  it('gives JSON lines within a half-open interval, or of one session', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    for (const key of [AGENT_KEY, PLAIN_KEY, AGENT_KEY]) await send({ url, key });
    const ids = async (query: string): Promise<string[]> => {
      const received = await send({ url, path: `/spend/logs${query}`, method: 'GET', key: MASTER_KEY });
      expect(received.headers['content-type']).toBe('application/x-ndjson');
      return received.body
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { callId: string }).callId);
    };
    expect(await ids('')).toEqual(['call-0001', 'call-0002', 'call-0003']);
    expect(await ids('?from=1002&to=1003')).toEqual(['call-0002']);
    expect(await ids('?from=1970-01-01T00:00:01.003Z')).toEqual(['call-0003']);
    expect(await ids(`?session=${SESSION_ID.toUpperCase()}`)).toEqual(['call-0001', 'call-0003']);
    const bad = await send({ url, path: '/spend/logs?from=soon', method: 'GET', key: MASTER_KEY });
    expect([bad.status, bad.json().error.param]).toEqual([400, 'from']);
    expect((await send({ url, path: '/spend/logs', method: 'GET' })).status).toBe(403);
  });

  it('pages through more rows than one read gives', async () => {
    const gateway = await startStubGateway();
    const { url, spend } = await startProxy({ origin: gateway.origin });
    await send({ url });
    await send({ url, path: '/spend/logs', method: 'GET', key: MASTER_KEY });
    const [row] = spend.rows.values();
    if (row === undefined) throw new Error('no row');
    const copies = Array.from({ length: 2_500 }, (_, i) => ({ ...row, callId: `copy-${i}` }));
    await spend.write(copies);
    const received = await send({ url, path: '/spend/logs', method: 'GET', key: MASTER_KEY });
    expect(new Set(received.body.split('\n').filter(Boolean)).size).toBe(2_501);
  });
});
