/** Several entries of one name, retries and fallbacks: only where they are configured, a row for each call sent. */
import { describe, expect, it } from 'vitest';
import { entryFor, MASTER_KEY, send, startProxy, STREAM_BODY } from './proxy-under-test.ts';
import { answerJson, answerStream, REPLY, startStubGateway, STREAM } from './stub-gateway.ts';

const DOWN = answerJson(503, '{"error":{"message":"down","type":"t","param":null,"code":"503"}}');

describe('entries of one name', () => {
  it('share the calls by their weight', async () => {
    const [one, two] = [await startStubGateway(), await startStubGateway()];
    const models = [entryFor(one.origin, { weight: 3 }), entryFor(two.origin)];
    const { url } = await startProxy({ origin: one.origin, models });
    for (let i = 0; i < 8; i += 1) expect((await send({ url })).status).toBe(200);
    expect([one.seen.length, two.seen.length]).toEqual([6, 2]);
    const list = await send({ url, path: '/v1/models', method: 'GET' });
    expect((JSON.parse(list.body) as { data: object[] }).data).toHaveLength(1);
  });

  it('are not tried one after the other unless that is configured', async () => {
    const [one, two] = [await startStubGateway(DOWN), await startStubGateway()];
    const models = [entryFor(one.origin), entryFor(two.origin)];
    const { url } = await startProxy({ origin: one.origin, models });
    const statuses = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await send({ url })).status);
    expect(statuses).toEqual([503, 200, 503, 200]);
  });
});

describe('num_retries', () => {
  it('sends the call to the next entry, with a row each, and the caller sees the last answer', async () => {
    const [one, two] = [await startStubGateway(DOWN), await startStubGateway()];
    const models = [entryFor(one.origin), entryFor(two.origin)];
    const { url, rows, proxy } = await startProxy({ origin: one.origin, models, router: { num_retries: 1 } });
    const received = await send({ url });
    expect([received.status, received.body]).toEqual([200, REPLY]);
    expect(received.headers['x-proxyvendor-attempted-retries']).toBe('1');
    expect((await rows()).map((row) => [row.state, row.httpStatus])).toEqual([
      ['failed', 503],
      ['succeeded', 200],
    ]);
    expect(proxy.metrics()).toMatchObject({ callsTotal: 2, callsInFlight: 0, failed: 1, succeeded: 1 });
  });

  it('sends a long body whole with each try', async () => {
    const [one, two] = [await startStubGateway(DOWN), await startStubGateway()];
    const models = [entryFor(one.origin), entryFor(two.origin)];
    const { url } = await startProxy({ origin: one.origin, models, router: { num_retries: 1 } });
    const content = 'a "quoted" word\n'.repeat(40_000);
    const messages = [{ role: 'user', content }];
    const body = JSON.stringify({ model: 'coder', messages, user: 'u' });
    expect((await send({ url, body })).status).toBe(200);
    const arrived = [...one.seen, ...two.seen].map((request) => [
      JSON.parse(request.body) as unknown,
      request.headers['content-length'],
    ]);
    const whole = [{ model: 'prov/up', messages }, String(one.seen[0]?.body.length)];
    expect(arrived).toEqual([whole, whole]);
  });

  it('ends with the true status and body when every try fails', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin, router: { num_retries: 2 } });
    gateway.answer = answerJson(429, '{"error":{"message":"busy"}}', { 'retry-after': '0' });
    const received = await send({ url });
    expect([received.status, received.body, received.headers['retry-after']]).toEqual([
      429,
      '{"error":{"message":"busy"}}',
      '0',
    ]);
    expect(gateway.seen).toHaveLength(3);
    expect(await rows()).toHaveLength(3);
  });

  it.each([400, 401, 403, 404, 422])('never repeats a %i', async (status) => {
    const gateway = await startStubGateway(answerJson(status, '{"error":{"message":"no"}}'));
    const { url } = await startProxy({ origin: gateway.origin, router: { num_retries: 2 } });
    expect((await send({ url })).status).toBe(status);
    expect(gateway.seen).toHaveLength(1);
  });

  it('passes on the answer of a gateway that asks for a longer pause than is waited', async () => {
    const gateway = await startStubGateway(answerJson(429, '{"error":{}}', { 'retry-after': '3600' }));
    const { url } = await startProxy({ origin: gateway.origin, router: { num_retries: 2 } });
    expect((await send({ url })).headers['retry-after']).toBe('3600');
    expect(gateway.seen).toHaveLength(1);
  });

  it('helps a stream that hung up or failed before its first frame, and never one that began', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin, router: { num_retries: 1 } });
    const refused = 'data: {"error":{"message":"busy","code":"503"}}\n\n';
    for (const first of [answerStream(['data: {"id"'], 'destroy'), answerStream([refused])]) {
      let calls = 0;
      gateway.answer = (res, seen) => ((calls += 1) === 1 ? first : answerStream([STREAM]))(res, seen);
      expect((await send({ url, body: STREAM_BODY })).body).toContain('[DONE]');
    }
    gateway.answer = answerStream(['data: {"id":"r","choices":[]}\n\n'], 'destroy');
    expect((await send({ url, body: STREAM_BODY })).body).toContain('gateway_failed');
    expect((await rows()).map((row) => row.state)).toEqual([
      ...['failed', 'succeeded', 'failed', 'succeeded'],
      'failed',
    ]);
  });

  it('sends nothing more for a caller that left in the pause', async () => {
    const gateway = await startStubGateway(answerJson(503, '{}', { 'retry-after': '9' }));
    const { url, rows, proxy } = await startProxy({ origin: gateway.origin, router: { num_retries: 1 } });
    const leaving = new AbortController();
    const call = send({ url, signal: leaving.signal }).catch(() => null);
    while (proxy.metrics().failed === 0) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    await call;
    while (proxy.metrics().callsInFlight > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(gateway.seen).toHaveLength(1);
    expect((await rows()).map((row) => row.state)).toEqual(['failed']);
  });
});

describe('fallbacks', () => {
  it('turn to another name after all tries, for a key that may use it', async () => {
    const [main, spare] = [await startStubGateway(DOWN), await startStubGateway()];
    const models = [
      entryFor(main.origin),
      { ...entryFor(spare.origin, { model: 'openai/spare/up' }), model_name: 'spare' },
    ];
    const router = { fallbacks: [{ coder: ['spare'] }] };
    const { url, rows } = await startProxy({ origin: main.origin, models, router });
    expect((await send({ url, key: MASTER_KEY })).status).toBe(200);
    expect((await rows()).map((row) => [row.modelName, row.upstreamModel, row.state])).toEqual([
      ['coder', 'prov/up', 'failed'],
      ['coder', 'spare/up', 'succeeded'],
    ]);
  });
});
