/** Model entries, prefixes and addresses, ways to add models, wildcards: docs/spec.md, the gateway's resources. */
import { describe, expect, it } from 'vitest';
import {
  BODY,
  entryFor,
  GATEWAY_KEY,
  MASTER_KEY,
  readConfig,
  send,
  startProxy,
} from '../../proxy/proxy-under-test.ts';
import { startStubGateway } from '../../proxy/stub-gateway.ts';

const listed = async (url: string): Promise<readonly string[]> => {
  const { body } = await send({ url, path: '/v1/models', method: 'GET', key: MASTER_KEY });
  return (JSON.parse(body) as { data: { id: string }[] }).data.map(({ id }) => id);
};
const problemsOf = (params: object, env: Record<string, string> = {}) =>
  readConfig({ model_list: [entryFor('http://127.0.0.1:9', params as Record<string, unknown>)] }, env)
    .problems;
const errorsOf = (params: object) =>
  problemsOf(params)
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => message);
const modelOf = (body: string): string => (JSON.parse(body) as { model: string }).model;

describe('a model entry', () => {
  it('G4, G5, G6, G35: is called by its friendly name, and asks its address for its model with its key', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    expect(await listed(url)).toEqual(['coder']);
    await send({ url, body: BODY });
    const [seen] = gateway.seen;
    expect([seen?.url, modelOf(seen?.body ?? '{}')]).toEqual(['/v1/chat/completions', 'prov/up']);
    expect(seen?.headers['authorization']).toBe(`Bearer ${GATEWAY_KEY}`);
  });

  it('G7: takes its key from the file or from a variable, which must be set', () => {
    expect(problemsOf({ api_key: 'sk-literal' })).toEqual([]);
    expect(problemsOf({ api_key: 'os.environ/TEAM_KEY' }, { TEAM_KEY: 'sk-of-the-secret' })).toEqual([]);
    expect(errorsOf({ api_key: 'os.environ/TEAM_KEY' })).toEqual([expect.stringContaining('TEAM_KEY')]);
  });

  it('G8: of the same product has a base without /v1, which is appended', async () => {
    const gateway = await startStubGateway();
    const params = { model: 'proxyvendor_proxy/large', api_base: gateway.origin };
    const { url } = await startProxy({ origin: gateway.origin, params });
    await send({ url, body: BODY });
    expect([gateway.seen[0]?.url, modelOf(gateway.seen[0]?.body ?? '{}')]).toEqual([
      '/v1/chat/completions',
      'large',
    ]);
    expect(errorsOf({ model: 'proxyvendor_proxy/large', api_base: 'http://127.0.0.1:9/v1' })).toEqual([
      expect.stringContaining('write "http://127.0.0.1:9"'),
    ]);
  });

  it('G9: of another product has a base with /v1, which is not appended', () => {
    expect(errorsOf({ model: 'openai/acme/large', api_base: 'http://127.0.0.1:9' })).toEqual([
      expect.stringContaining('write "http://127.0.0.1:9/v1"'),
    ]);
  });
});

describe('ways to add models', () => {
  it('G15, G30: /model/new serves at once, and the answer says that it will not last', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const added = JSON.stringify({ ...entryFor(gateway.origin), model_name: 'added' });
    const answer = await send({ url, path: '/model/new', key: MASTER_KEY, body: added });
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([200, { persistent: false }]);
    expect(await listed(url)).toEqual(['coder', 'added']);
    expect((await send({ url, body: '{"model":"added","messages":[]}' })).status).toBe(200);
    const { url: restarted } = await startProxy({ origin: gateway.origin });
    expect(await listed(restarted)).toEqual(['coder']);
  });

  it('G16, G29: entries of the configuration are there after every start', async () => {
    const gateway = await startStubGateway();
    for (let starts = 0; starts < 2; starts += 1) {
      const { url } = await startProxy({ origin: gateway.origin });
      expect(await listed(url)).toEqual(['coder']);
    }
  });

  it('G17: Pattern A: entries share address and key, and users see exactly the configured names', async () => {
    const gateway = await startStubGateway();
    const models = ['small', 'large'].map((name) => ({
      ...entryFor(gateway.origin, { model: `openai/acme/${name}` }),
      model_name: name,
    }));
    const { url } = await startProxy({ origin: gateway.origin, models });
    expect(await listed(url)).toEqual(['small', 'large']);
    await send({ url, body: '{"model":"large","messages":[]}' });
    expect(modelOf(gateway.seen[0]?.body ?? '{}')).toBe('acme/large');
  });
});

describe('a wildcard entry', () => {
  const wildcard = (origin: string) => ({ ...entryFor(origin, { model: 'openai/*' }), model_name: '*' });

  it('G18, G45: lists the configured names, a literal * and more than 200 in all', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({
      origin: gateway.origin,
      models: [entryFor(gateway.origin), wildcard(gateway.origin)],
    });
    const names = await listed(url);
    expect(names.length).toBeGreaterThanOrEqual(200);
    expect(names).toEqual(expect.arrayContaining(['coder', '*']));
    expect(new Set(names).size).toBe(names.length);
  });

  it('G18, G42: a bare name is 400, a prefixed one is forwarded, and an unknown one is for the gateway to reject', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin, models: [wildcard(gateway.origin)] });
    expect((await send({ url, body: '{"model":"large","messages":[]}' })).status).toBe(400);
    gateway.answer = (res) => res.writeHead(400).end('{"error":{"message":"no such model","code":"400"}}');
    const rejected = await send({ url, body: '{"model":"acme/nobody","messages":[]}' });
    expect([rejected.status, rejected.body]).toEqual([400, expect.stringContaining('no such model')]);
    expect(gateway.seen.map(({ body }) => modelOf(body))).toEqual(['acme/nobody']);
  });

  it('G44: is a warning at start that names Pattern A', () => {
    const { problems } = readConfig({ model_list: [wildcard('http://127.0.0.1:9')] });
    expect(problems.map(({ severity, message }) => [severity, message])).toEqual([
      ['warning', expect.stringContaining('Pattern A')],
    ]);
  });
});
