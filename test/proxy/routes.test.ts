/** Model list, `POST /model/new` and health over real HTTP. */
import { describe, expect, it } from 'vitest';
import {
  BODY,
  entryFor,
  GATEWAY_KEY,
  MASTER_KEY,
  NARROW_KEY,
  send,
  startProxy,
  VENDOR,
} from './proxy-under-test.ts';
import { startStubGateway } from './stub-gateway.ts';

const ADMIN = { method: 'POST', path: '/model/new', key: MASTER_KEY };

function listed(body: string): string[] {
  return (JSON.parse(body) as { data: { id: string }[] }).data.map((row) => row.id);
}

describe('GET /v1/models', () => {
  it('lists the names in order, to each key its own', async () => {
    const gateway = await startStubGateway();
    const models = ['coder', 'other', 'a/b'].map((name) => ({
      ...entryFor(gateway.origin),
      model_name: name,
    }));
    const { url } = await startProxy({ origin: gateway.origin, models });
    const get = (path: string, key?: string | null): ReturnType<typeof send> =>
      send({ url, path, method: 'GET', ...(key === undefined ? {} : { key }) });
    const row = '{"id":"coder","object":"model","created":1677610602,"owned_by":"openai"}';
    expect((await get('/v1/models', MASTER_KEY)).body.startsWith(`{"data":[${row},`)).toBe(true);
    expect(listed((await get('/models')).body)).toEqual(['coder', 'other', 'a/b']);
    expect(listed((await get('/v1/models', NARROW_KEY)).body)).toEqual(['other']);
    expect((await get('/v1/models/coder')).body).toBe(row);
    expect((await get('/v1/models/a%2Fb')).status).toBe(200);
    expect((await get('/models/a/b')).status).toBe(200);
    expect((await get('/v1/models/coder', NARROW_KEY)).status).toBe(404);
    expect((await get('/v1/models', null)).status).toBe(401);
    expect((await get('/v1/models/none')).json().error.code).toBe('model_not_found');
  });
});

describe('POST /model/new', () => {
  it('serves the model at once, says that it will not last, and shows no key', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const entry = { ...entryFor(gateway.origin), model_name: 'fresh' };
    const added = await send({ url, ...ADMIN, body: JSON.stringify(entry) });
    expect([added.status, JSON.parse(added.body)]).toMatchObject([
      200,
      {
        model_name: 'fresh',
        [`${VENDOR}_params`]: { model: 'openai/prov/up', api_base: `${gateway.origin}/v1` },
        persistent: false,
        warnings: [],
      },
    ]);
    expect(added.body).not.toContain(GATEWAY_KEY);
    expect(listed((await send({ url, path: '/v1/models', method: 'GET' })).body)).toEqual(['coder', 'fresh']);
    expect((await send({ url, body: '{"model":"fresh","messages":[]}' })).status).toBe(200);
    const restarted = await startProxy({ origin: gateway.origin });
    expect((await send({ url: restarted.url, body: '{"model":"fresh","messages":[]}' })).status).toBe(404);
  });

  it('checks the entry like the configuration, and the key first', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const post = (entry: unknown): ReturnType<typeof send> =>
      send({ url, ...ADMIN, body: JSON.stringify(entry) });
    const wrongBase = await post({
      ...entryFor(gateway.origin, { api_base: gateway.origin }),
      model_name: 'x',
    });
    expect(wrongBase.status).toBe(400);
    expect(wrongBase.json().error.message).toContain(`write "${gateway.origin}/v1"`);
    const unset = await post({
      ...entryFor(gateway.origin, { api_key: 'os.environ/NOT_SET' }),
      model_name: 'x',
    });
    expect(unset.json().error.message).toContain('"NOT_SET"');
    expect((await post([])).status).toBe(400);
    const huge = await post({ model_name: 'x'.repeat(2 * 1024 * 1024) });
    expect([huge.status, huge.json().error.code]).toEqual([413, 'request_too_large']);
    expect((await post(entryFor(gateway.origin))).json().error.message).toContain(
      'the configuration has an entry',
    );
    expect((await send({ url, path: '/model/new' })).status).toBe(403);
  });
});

describe('health', () => {
  it('needs no key and calls no model', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const get = async (path: string): Promise<[number, string]> => {
      const received = await send({ url, path, method: 'GET', key: null });
      return [received.status, received.body];
    };
    expect(await get('/health/liveliness')).toEqual([200, '"I\'m alive!"']);
    expect(await get('/health/liveness')).toEqual([200, '"I\'m alive!"']);
    expect(await get('/health/readiness')).toEqual([200, '{"status":"healthy","spend":"connected"}']);
    expect(gateway.seen).toHaveLength(0);
  });
});

describe('two headers of one name', () => {
  it.each(['authorization', 'x-api-key', 'api-key', `x-${VENDOR}-api-key`])(
    'does not choose among several %s',
    async (name) => {
      const gateway = await startStubGateway();
      const { url } = await startProxy({ origin: gateway.origin });
      const one = name === 'authorization' ? `Bearer ${MASTER_KEY}` : MASTER_KEY;
      for (const [method, path] of [
        ['GET', '/v1/models'],
        ['POST', '/v1/chat/completions'],
        ['POST', '/model/new'],
      ] as const) {
        const asked = { url, path, method, key: null, ...(method === 'GET' ? {} : { body: BODY }) };
        const twice = await send({ ...asked, headers: { [name]: [one, one] } });
        expect([path, twice.status, twice.json().error.message]).toEqual([
          path,
          401,
          expect.stringMatching(/send one [\w-]+ header, not several/),
        ]);
      }
      const headers = { [name]: one };
      expect((await send({ url, path: '/v1/models', method: 'GET', key: null, headers })).status).toBe(200);
      expect(gateway.seen).toHaveLength(0);
    },
  );
});
