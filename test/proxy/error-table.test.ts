/** Every error that a caller can meet, with status and envelope, on every relayed route; a repeat changes nothing (D22). */
import { describe, expect, it } from 'vitest';
import {
  entryFor,
  GATEWAY_KEY,
  MASTER_KEY,
  NARROW_KEY,
  readConfig,
  send,
  startProxy,
  VENDOR,
  type Received,
  type Sent,
} from './proxy-under-test.ts';
import { answerJson, startStubGateway } from './stub-gateway.ts';

const ROUTES = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings'] as const;
const FULL = '"messages":[],"input":"x"';

/** The envelope has its four members and nothing of the framework's own. */
function expectEnvelope(received: Received): void {
  expect(received.headers['content-type']).toBe('application/json');
  expect(Object.keys(JSON.parse(received.body) as object)).toEqual(['error']);
  const { error } = received.json();
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(typeof error.message).toBe('string');
  expect(typeof error.type).toBe('string');
  expect(typeof error.code).toBe('string');
}

interface Row {
  readonly name: string;
  readonly sent: Sent;
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly says: string;
}

const INVALID = 'invalid_request_error';
const ROWS: readonly Row[] = [
  {
    ...{ name: 'no key', sent: { key: null }, status: 401 },
    ...{ type: 'authentication_error', param: null, says: 'no API key was passed' },
  },
  {
    ...{ name: 'an unknown key', sent: { key: 'sk-nobody' }, status: 401 },
    ...{ type: 'authentication_error', param: null, says: 'unknown or expired' },
  },
  {
    ...{ name: 'a bare key', sent: { key: null, headers: { authorization: MASTER_KEY } }, status: 401 },
    ...{ type: 'authentication_error', param: null, says: 'no API key was passed' },
  },
  {
    ...{ name: 'a key without the model', sent: { key: NARROW_KEY, body: `{"model":"coder",${FULL}}` } },
    ...{ status: 403, type: 'permission_error', param: 'model', says: 'does not allow it' },
  },
  {
    ...{ name: 'malformed JSON', sent: { body: '{"model":"coder",}' }, status: 400 },
    ...{ type: INVALID, param: 'request_body', says: 'no valid JSON, from position 17' },
  },
  {
    ...{ name: 'no object', sent: { body: '[1]' }, status: 400 },
    ...{ type: INVALID, param: 'request_body', says: 'must be a JSON object' },
  },
  {
    ...{ name: 'no model', sent: { body: `{${FULL}}` }, status: 400 },
    ...{ type: INVALID, param: 'model', says: '"model" must be a text' },
  },
  {
    ...{ name: 'an unknown model', sent: { body: `{"model":"none",${FULL}}` }, status: 404 },
    ...{ type: INVALID, param: 'model', says: '"none": it is not listed; GET /v1/models' },
  },
  {
    ...{ name: 'an address as model', sent: { body: `{"model":"http://127.0.0.1/x",${FULL}}` } },
    ...{ status: 400, type: INVALID, param: 'model', says: 'no address' },
  },
  {
    ...{ name: 'metadata that is no object', sent: { body: `{"model":"coder","metadata":7,${FULL}}` } },
    ...{ status: 400, type: INVALID, param: 'metadata', says: '"metadata" must be an object' },
  },
];

describe.each(ROUTES)('%s', (path) => {
  it.each(ROWS)('answers $name with $status, three times over', async ({ sent, ...row }) => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    for (let i = 0; i < 3; i += 1) {
      const received = await send({ url, path, ...sent });
      expectEnvelope(received);
      const { type, param, message } = received.json().error;
      expect([received.status, type, param]).toEqual([row.status, row.type, row.param]);
      expect(message).toContain(row.says);
    }
    expect(gateway.seen).toHaveLength(0);
    expect(await rows()).toHaveLength(0);
  });

  it.each([400, 401, 404, 429, 500, 503])('keeps a %i of the gateway, three times over', async (status) => {
    const body = `{"error":{"message":"because","type":"its_type","param":"its_param","code":"${status}"}}`;
    const gateway = await startStubGateway(answerJson(status, body, { 'retry-after': '7' }));
    const { url } = await startProxy({ origin: gateway.origin });
    for (let i = 0; i < 3; i += 1) {
      const received = await send({ url, path, body: `{"model":"coder",${FULL}}` });
      expect([received.status, received.body]).toEqual([status, body]);
      expect(received.headers['retry-after']).toBe('7');
    }
    expect(gateway.seen).toHaveLength(3);
  });

  it('refuses a header that cannot be forwarded, by its name', async () => {
    const gateway = await startStubGateway();
    const settings = { forward_client_headers_to_llm_api: true };
    const { url } = await startProxy({ origin: gateway.origin, settings });
    const headers = { 'x-team': Buffer.from('J\u00fcrgen').toString('latin1') };
    const received = await send({ url, path, headers, body: `{"model":"coder",${FULL}}` });
    expectEnvelope(received);
    expect([received.status, received.json().error.param]).toEqual([400, 'x-team']);
  });
});

describe('what one route alone requires', () => {
  it.each([
    ['/v1/chat/completions', '{"model":"coder"}', 'messages'],
    ['/v1/chat/completions', '{"model":"coder","messages":null}', 'messages'],
    ['/v1/chat/completions', '{"model":"coder","messages":"hi"}', 'messages'],
    ['/v1/embeddings', '{"model":"coder"}', 'input'],
  ])('%s refuses %s', async (path, body, param) => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, path, body });
    expectEnvelope(received);
    expect([received.status, received.json().error.param]).toEqual([400, param]);
  });
});

describe('a route that is not there', () => {
  it.each([
    ['GET', '/', 404, 'not_found'],
    ['POST', '/v1/nothing', 404, 'not_found'],
    ['GET', '/v1/chat/completions', 405, 'method_not_allowed'],
    ['DELETE', '/v1/models', 405, 'method_not_allowed'],
    ['POST', '/health/readiness', 405, 'method_not_allowed'],
    ['GET', '/v1/models/none', 404, 'model_not_found'],
    ['GET', '/__proto__', 404, 'not_found'],
  ])('%s %s keeps the envelope', async (method, path, status, code) => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, path, method, body: '' });
    expectEnvelope(received);
    expect([received.status, received.json().error.code]).toEqual([status, code]);
  });
});

it('a configuration whose key is missing is refused at the start, naming entry and variable', () => {
  const entry = entryFor('http://127.0.0.1:1', { api_key: 'os.environ/NOT_THERE' });
  const [problem] = readConfig({ model_list: [entry] }).problems;
  expect(problem).toMatchObject({ severity: 'error' });
  expect(problem?.message).toContain('model entry "coder"');
  expect(problem?.message).toContain('"NOT_THERE" is not set');
});

describe('a wildcard', () => {
  it('lists 200 names or more with itself, refuses a bare name and forwards a prefixed one', async () => {
    const gateway = await startStubGateway();
    const wildcard = { ...entryFor(gateway.origin, { model: 'openai/*' }), model_name: '*' };
    const models = [entryFor(gateway.origin), wildcard];
    const { problems } = readConfig({ model_list: models });
    expect(problems.map((problem) => problem.severity)).toEqual(['warning']);
    expect(problems[0]?.message).toContain('Pattern A');
    const { url } = await startProxy({ origin: gateway.origin, models });
    const list = await send({ url, path: '/v1/models', method: 'GET' });
    const ids = (JSON.parse(list.body) as { data: { id: string }[] }).data.map((row) => row.id);
    expect(ids.slice(0, 2)).toEqual(['coder', '*']);
    expect(ids).toContain('gpt-4o');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(200);
    for (let i = 0; i < 3; i += 1) {
      const bare = await send({ url, body: '{"model":"gpt-4o","messages":[]}' });
      expectEnvelope(bare);
      expect([bare.status, bare.json().error.message]).toEqual([
        400,
        'Cannot call model "gpt-4o": write it as "provider/model"',
      ]);
    }
    expect((await send({ url, body: '{"model":"acme/large","messages":[]}' })).status).toBe(200);
    expect(gateway.seen.map((seen) => seen.body)).toEqual(['{"model":"acme/large","messages":[]}']);
    gateway.answer = answerJson(400, '{"error":{"message":"no such model"}}');
    expect((await send({ url, body: '{"model":"acme/none","messages":[]}' })).status).toBe(400);
  });
});

describe('headers that the configuration sets on every call', () => {
  const custom = { custom_llm_extra_headers: { 'X-Route': 'blue' } };

  it.each(['anthropic', 'openai', 'bedrock', 'azure', 'vertex'])(
    'are refused for the provider %s',
    (provider) => {
      const { problems } = readConfig({ general_settings: { llm_provider: provider, ...custom } });
      expect(problems.filter((problem) => problem.severity === 'error')).toHaveLength(1);
      expect(problems[0]?.message).toContain('llm_provider "custom" only');
    },
  );

  it('reach the gateway from every entry and every user, under those of the entry', async () => {
    const gateway = await startStubGateway();
    const settings = { llm_provider: 'custom', custom_llm_extra_headers: '{"X-Route":"blue","X-Own":"a"}' };
    const params = { extra_headers: { 'x-own': 'b' } };
    const { url } = await startProxy({ origin: gateway.origin, params, settings });
    const added = { ...entryFor(gateway.origin), model_name: 'added' };
    await send({ url, path: '/model/new', key: MASTER_KEY, body: JSON.stringify(added) });
    for (const model of ['coder', 'added']) await send({ url, body: `{"model":"${model}","messages":[]}` });
    const seen = gateway.seen.map(({ headers }) => [headers['x-route'], headers['x-own']]);
    expect(seen).toEqual([
      ['blue', 'b'],
      ['blue', 'a'],
    ]);
  });

  it('warn of a credential in plain text, and leave out what is the proxy’s', () => {
    const headers = { 'X-Auth-Token': 'abc', [`x-${VENDOR}-session-id`]: 'z' };
    const { config, problems } = readConfig({ general_settings: { custom_llm_extra_headers: headers } });
    expect(problems.map((problem) => problem.severity)).toEqual(['warning', 'warning']);
    expect([...config.customHeaders.keys()]).toEqual(['x-auth-token']);
    expect(JSON.stringify(problems)).not.toContain(GATEWAY_KEY);
  });
});
