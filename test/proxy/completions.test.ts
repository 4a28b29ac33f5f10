/** Chat completions over real HTTP: what reaches the gateway and what comes back. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';
import {
  AGENT_KEY,
  BODY,
  entryFor,
  GATEWAY_KEY,
  NARROW_KEY,
  send,
  SESSION_ID,
  startProxy,
  VENDOR,
} from './proxy-under-test.ts';
import { REPLY, startStubGateway } from './stub-gateway.ts';

describe('POST /v1/chat/completions', () => {
  it('rewrites the alias, strips the prefix and relays the reply byte for byte', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const tools =
      '"tools" : [{"type":"function","function":{"name":"f","parameters":{"a":1.0, "b":"\\u00e9"}}}]';
    const body = `{"messages":[{"role":"user","content":"say \\"model\\":\\"coder\\""}], "foo":1e2,${tools},"user":"u@x","model" : "coder" }`;
    const received = await send({ url, body });
    expect(received.status).toBe(200);
    expect(received.body).toBe(REPLY);
    expect(received.headers[`x-${VENDOR}-call-id`]).toBe('call-0001');
    const expected = body.replace('"user":"u@x",', '').replace('"model" : "coder"', '"model" : "prov/up"');
    expect(gateway.seen[0]?.body).toBe(expected);
    expect(gateway.seen[0]?.url).toBe('/v1/chat/completions');
    expect(gateway.seen[0]?.headers['authorization']).toBe(`Bearer ${GATEWAY_KEY}`);
    expect(gateway.seen[0]?.headers['content-length']).toBe(String(Buffer.byteLength(expected)));
  });

  it('appends /v1 for a gateway of the same product, and keeps `user` back there too', async () => {
    const gateway = await startStubGateway();
    const params = { model: `${VENDOR}_proxy/team/model`, api_base: `${gateway.origin}/base/` };
    const { url, rows } = await startProxy({ origin: gateway.origin, params });
    await send({ url, body: '{"user":"u-9","model":"coder","messages":[]}', path: '/chat/completions' });
    expect(gateway.seen[0]?.url).toBe('/base/v1/chat/completions');
    expect(gateway.seen[0]?.body).toBe('{"model":"team/model","messages":[]}');
    expect((await rows())[0]).toMatchObject({
      user: 'u-9',
      route: '/v1/chat/completions',
      upstreamModel: 'team/model',
    });
  });

  it('sends a large body in pieces without changing it', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const content = 'a\\"b{[é'.repeat(60_000);
    const body = `{"messages":[{"content":"${content}"}],"model":"coder","user":"u"}`;
    expect((await send({ url, body })).status).toBe(200);
    expect(gateway.seen[0]?.body).toBe(`{"messages":[{"content":"${content}"}],"model":"prov/up"}`);
  });

  it('serves a unix socket and a loopback port at once', async () => {
    const gateway = await startStubGateway();
    const { url, proxy } = await startProxy({ origin: gateway.origin });
    const socketPath = path.join(tempDir(), 'proxy.sock');
    await proxy.listen({ socketPath });
    expect(proxy.addresses).toHaveLength(2);
    expect((await send({ socketPath })).body).toBe(REPLY);
    expect((await send({ url })).body).toBe(REPLY);
  });

  it('answers with its envelope when the call cannot be sent', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const table: readonly [object, number, string][] = [
      [{ key: null }, 401, 'unauthorized'],
      [{ key: 'sk-unknown' }, 401, 'unauthorized'],
      [{ key: null, headers: { authorization: `Basic ${AGENT_KEY}` } }, 401, 'unauthorized'],
      [{ key: NARROW_KEY }, 403, 'forbidden'],
      [{ body: '{"model":"none","messages":[]}' }, 404, 'model_not_found'],
      [{ body: '{"model":' }, 400, 'invalid_request'],
      [{ body: '[]' }, 400, 'invalid_request'],
      [{ body: '{"messages":[]}' }, 400, 'invalid_request'],
      [{ body: '{"model":7}' }, 400, 'invalid_request'],
      [{ path: '/v1/nothing' }, 404, 'not_found'],
      [{ path: '/v1/models' }, 405, 'method_not_allowed'],
      [{ headers: { 'x-big': 'a'.repeat(40_000) } }, 431, 'invalid_request'],
    ];
    for (const [sent, status, code] of table) {
      const received = await send({ url, ...sent });
      expect([sent, received.status, received.json().error.code]).toEqual([sent, status, code]);
      expect(received.json().error.message).toMatch(/^Cannot /);
    }
    expect((await send({ url, body: '{"model":"none","messages":[]}' })).json().error.message).toContain(
      'GET /v1/models',
    );
    expect(gateway.seen).toHaveLength(0);
    expect(await rows()).toHaveLength(0);
  });

  it('takes the key from the product header as well', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, key: null, headers: { [`x-${VENDOR}-api-key`]: AGENT_KEY } })).status).toBe(
      200,
    );
  });

  it('forwards names with a provider through a wildcard and refuses bare ones', async () => {
    const gateway = await startStubGateway();
    const wildcard = { ...entryFor(gateway.origin, { model: 'openai/*' }), model_name: '*' };
    const { url } = await startProxy({
      origin: gateway.origin,
      models: [wildcard, entryFor(gateway.origin)],
    });
    const bare = await send({ url, body: '{"model":"foo","messages":[]}' });
    expect([bare.status, bare.json().error.param]).toEqual([400, 'model']);
    await send({ url, body: '{"model":"prov/$&","messages":[]}' });
    await send({ url, body: BODY });
    expect(gateway.seen.map((seen) => (JSON.parse(seen.body) as { model: string }).model)).toEqual([
      'prov/$&',
      'prov/up',
    ]);
  });

  it('stamps the session id from the key and forwards headers only when told to', async () => {
    const gateway = await startStubGateway();
    const headers = {
      [`x-${VENDOR}-session-id`]: 'forged-session-id',
      'X-Team': 'a',
      'x-stainless-os': 'linux',
    };
    const on = await startProxy({
      origin: gateway.origin,
      settings: { forward_client_headers_to_llm_api: true },
    });
    await send({ url: on.url, headers });
    const off = await startProxy({ origin: gateway.origin });
    await send({ url: off.url, headers });
    expect(gateway.seen[0]?.headers).toMatchObject({ 'x-team': 'a', [`x-${VENDOR}-session-id`]: SESSION_ID });
    expect(gateway.seen[0]?.headers['x-stainless-os']).toBeUndefined();
    expect(gateway.seen[1]?.rawHeaders.filter((name) => name.toLowerCase().startsWith('x-'))).toEqual([]);
    expect((await off.rows())[0]?.sessionId).toBe(SESSION_ID);
  });

  it('refuses a forwarded header that cannot be sent, naming it', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({
      origin: gateway.origin,
      settings: { forward_client_headers_to_llm_api: true },
    });
    const received = await send({ url, headers: { 'x-name': 'J\u00fcrgen' } });
    expect([received.status, received.json().error.code, received.json().error.param]).toEqual([
      400,
      'header_not_sendable',
      'x-name',
    ]);
    expect(gateway.seen).toHaveLength(0);
  });

  it('never passes the gateway its headers about itself on, nor logs a key', async () => {
    const gateway = await startStubGateway((res) => {
      res.writeHead(200, {
        'content-type': 'application/json',
        'x-gw-model-api-base': 'http://inner',
        'x-request-id': 'r-1',
      });
      res.end(REPLY);
    });
    const { url, logged } = await startProxy({ origin: gateway.origin });
    const received = await send({ url });
    expect(received.headers['x-gw-model-api-base']).toBeUndefined();
    expect(received.headers['x-request-id']).toBe('r-1');
    expect(logged.join('\n')).toContain('Model call ended');
    expect(logged.join('\n')).not.toMatch(/sk-/);
  });
});
