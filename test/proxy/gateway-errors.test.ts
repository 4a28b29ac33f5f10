/** Errors of a gateway: each keeps its status, however often it repeats (D22). */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { GATEWAY_KEY, send, startProxy } from './proxy-under-test.ts';
import { answerJson, startStubGateway } from './stub-gateway.ts';

describe('an error of the gateway', () => {
  it('keeps status, body and retry-after, three times over', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const statuses = [400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529];
    for (const status of statuses) {
      const body = `{ "error": {"message":"because ${status}","type":"t","param":"p","code":"c"}, "extra": 1.0 }`;
      gateway.answer = answerJson(status, body, {
        'retry-after': '17',
        'x-ratelimit-remaining-requests': '0',
      });
      for (let i = 0; i < 3; i += 1) {
        const received = await send({ url });
        expect([received.status, received.body]).toEqual([status, body]);
        expect(received.headers).toMatchObject({
          'retry-after': '17',
          'x-ratelimit-remaining-requests': '0',
        });
      }
    }
    const all = await rows();
    expect(all).toHaveLength(3 * statuses.length);
    expect(new Set(all.map((row) => row.state))).toEqual(new Set(['failed']));
    expect(all[0]).toMatchObject({ httpStatus: 400, cost: null, costSource: 'unpriced', promptTokens: null });
  });

  it('wraps a text that is not in the envelope and cuts the key out', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const table: readonly [string, string][] = [
      ['<html>Bad Gateway</html>', '<html>Bad Gateway</html>'],
      ['{"detail":"nope"}', 'nope'],
      ['{"error":"flat"}', 'flat'],
      ['', 'The gateway answered 502 without a text'],
      [`{"error":{"message":"bad key ${GATEWAY_KEY}"}}`, 'bad key [redacted]'],
    ];
    for (const [body, message] of table) {
      gateway.answer = answerJson(502, body, { 'content-type': 'text/html' });
      const received = await send({ url });
      expect([received.status, received.json().error.message]).toEqual([502, message]);
      expect(received.headers['content-type']).toBe('application/json');
    }
  });

  it('never follows a redirect', async () => {
    const gateway = await startStubGateway(answerJson(307, '', { location: 'http://127.0.0.1:9/' }));
    const { url } = await startProxy({ origin: gateway.origin });
    const received = await send({ url });
    expect([received.status, received.json().error.code, gateway.seen.length]).toEqual([
      502,
      'gateway_failed',
      1,
    ]);
  });

  it('is 502 when the gateway cannot be reached, three times over, without naming it', async () => {
    const port = await closedPort();
    const { url, rows } = await startProxy({ origin: `http://127.0.0.1:${port}` });
    for (let i = 0; i < 3; i += 1) {
      const received = await send({ url });
      expect([received.status, received.json().error.code]).toEqual([502, 'gateway_unreachable']);
      expect(received.body).not.toContain(String(port));
    }
    expect((await rows()).map((row) => [row.state, row.httpStatus])).toEqual(Array(3).fill(['failed', null]));
  });

  it('is 502 with a code of its own when there is no such host', async () => {
    const { url } = await startProxy({ origin: 'http://no-such-gateway.invalid' });
    const received = await send({ url });
    expect([received.status, received.json().error.code]).toEqual([502, 'gateway_host_unknown']);
    expect(received.body).not.toContain('no-such-gateway');
  });

  it('is 504 when the gateway does not answer in time, three times over', async () => {
    const gateway = await startStubGateway(() => undefined);
    const { url, rows } = await startProxy({ origin: gateway.origin, params: { timeout: 0.05 } });
    for (let i = 0; i < 3; i += 1) {
      const received = await send({ url });
      expect([received.status, received.json().error.code]).toEqual([504, 'gateway_timeout']);
    }
    expect((await rows()).map((row) => row.state)).toEqual(['failed', 'failed', 'failed']);
  });

  it('is 502 when the gateway hangs up in a plain reply', async () => {
    const gateway = await startStubGateway((res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      res.write('{"id":', () => res.destroy());
    });
    const { url } = await startProxy({ origin: gateway.origin });
    const received = await send({ url });
    expect([received.status, received.json().error.code]).toEqual([502, 'gateway_failed']);
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
