/** Who holds which key, what is said in errors and logs: docs/spec.md, authentication and errors of the gateway. */
import { describe, expect, it } from 'vitest';
import {
  AGENT_KEY,
  BODY,
  entryFor,
  GATEWAY_KEY,
  MASTER_KEY,
  readConfig,
  send,
  startProxy,
} from '../../proxy/proxy-under-test.ts';
import { answerJson, startStubGateway } from '../../proxy/stub-gateway.ts';

const PROMPT = 'planted-prompt-text';
const ASK = JSON.stringify({ model: 'coder', user: 'ada', messages: [{ role: 'user', content: PROMPT }] });
const errorOf = (message: string, code: number) =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: String(code) } });

describe('keys', () => {
  it("G1, G2, G32: the gateway's key is the only credential that leaves, whatever the caller sent", async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({
      origin: gateway.origin,
      settings: { forward_client_headers_to_llm_api: true },
    });
    const headers = {
      'x-api-key': 'sk-own',
      'x-goog-api-key': 'sk-own',
      cookie: 'sk-own',
      'openai-organization': 'o',
    };
    await send({ url, body: ASK, headers: { ...headers, 'content-type': 'application/json' } });
    const seen = JSON.stringify(gateway.seen[0]);
    expect(seen).toContain(`Bearer ${GATEWAY_KEY}`);
    for (const secret of [AGENT_KEY, MASTER_KEY, 'sk-own']) expect(seen).not.toContain(secret);
  });

  it('G34: admin routes take the master key and no other', async () => {
    const { url } = await startProxy({ origin: 'http://127.0.0.1:9' });
    const ask = async (path: string, method: string, key: string | null) =>
      (await send({ url, path, method, key, body: JSON.stringify(entryFor('http://127.0.0.1:9')) })).status;
    for (const [path, method] of [
      ['/model/new', 'POST'],
      ['/spend/logs', 'GET'],
    ] as const) {
      expect([await ask(path, method, null), await ask(path, method, 'sk-guess')]).toEqual([401, 401]);
      expect(await ask(path, method, AGENT_KEY)).toBe(403);
    }
    expect(await ask('/spend/logs', 'GET', MASTER_KEY)).toBe(200);
  });

  it('G37: no reply holds the key of the gateway, and plain http to another machine is a warning', async () => {
    const gateway = await startStubGateway(answerJson(401, errorOf(`bad key ${GATEWAY_KEY}`, 401)));
    const { url } = await startProxy({ origin: gateway.origin });
    const replies = [
      await send({ url, body: ASK }),
      await send({ url, path: '/v1/models', method: 'GET', key: MASTER_KEY }),
      await send({ url, path: '/spend/logs', method: 'GET', key: MASTER_KEY }),
    ];
    for (const { body, headers } of replies)
      expect(JSON.stringify([body, headers])).not.toContain(GATEWAY_KEY);
    const { problems } = readConfig({ model_list: [entryFor('http://gateway.example.com')] });
    expect(problems).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('https') as string },
    ]);
  });
});

describe('what is kept', () => {
  it('G38: rows and logs hold model, tokens and times, and neither prompt nor reply', async () => {
    const reply =
      '{"id":"r","choices":[{"message":{"content":"planted-reply"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}';
    const gateway = await startStubGateway(answerJson(200, reply));
    const { url, rows, logged } = await startProxy({ origin: gateway.origin });
    await send({ url, body: ASK });
    const kept = await rows();
    expect(kept).toMatchObject([{ modelName: 'coder', promptTokens: 3, completionTokens: 2, user: 'ada' }]);
    expect(JSON.stringify([kept, logged])).not.toMatch(/planted-/);
  });
});

describe('errors', () => {
  it('G39: a model that is not listed is 404 and names the list', async () => {
    const { url } = await startProxy({ origin: 'http://127.0.0.1:9' });
    const reply = await send({ url, body: '{"model":"nobody","messages":[]}' });
    expect([reply.status, reply.json().error.message]).toEqual([404, expect.stringContaining('/v1/models')]);
  });

  it.each([
    ['G40: a key the gateway rejects is 401', 401],
    ['G41: a model the gateway does not know is 400', 400],
  ])('%s, three times over', async (_, status) => {
    const gateway = await startStubGateway(answerJson(status, errorOf('the gateway says no', status)));
    const { url } = await startProxy({ origin: gateway.origin });
    for (let times = 0; times < 3; times += 1) {
      const reply = await send({ url, body: BODY });
      expect([reply.status, reply.json().error.message]).toEqual([status, 'the gateway says no']);
    }
  });

  it('G41: the row of the table names both forms, and they are what an entry takes', () => {
    const errors = (model: string) =>
      readConfig({ model_list: [entryFor('http://127.0.0.1:9', { model })] }).problems.map(
        ({ message }) => message,
      );
    expect(errors('acme/large')).toEqual([expect.stringMatching(/"openai\/".*"proxyvendor_proxy\/"/)]);
  });

  it('G43: what the gateway says of tools is what asking it directly says', async () => {
    const gateway = await startStubGateway(answerJson(400, errorOf('this model has no tools', 400)));
    const { url } = await startProxy({ origin: gateway.origin });
    const body = '{"model":"coder","messages":[],"tools":[{"type":"function","function":{"name":"f"}}]}';
    const through = await send({ url, body });
    const directly = await send({ url: gateway.origin, body });
    expect([through.status, through.body]).toEqual([directly.status, directly.body]);
    expect(gateway.seen.map((seen) => (JSON.parse(seen.body) as { tools: unknown }).tools)).toEqual([
      [{ type: 'function', function: { name: 'f' } }],
      [{ type: 'function', function: { name: 'f' } }],
    ]);
  });
});
