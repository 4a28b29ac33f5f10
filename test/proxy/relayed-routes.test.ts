/** Responses, embeddings and the aliases of every relayed route: where they go, and what their rows hold. */
import { describe, expect, it } from 'vitest';
import { AGENT_KEY, send, startProxy } from './proxy-under-test.ts';
import { answerJson, answerStream, startStubGateway } from './stub-gateway.ts';

const RESPONSE_BODY = '{"model":"coder","input":"hi","user":"u1"}';
const RESPONSE =
  '{ "id":"resp_1","object":"response","output":[], "usage":{"input_tokens":20,"output_tokens":5,"input_tokens_details":{"cached_tokens":8}}}';
const EMBEDDING = '{"object":"list","data":[],"model":"e","usage":{"prompt_tokens":9,"total_tokens":9}}';

const EVENTS = [
  'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_s","usage":null,"error":null}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"\\"response.completed\\""}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_s","error":null,"usage":{"input_tokens":11,"output_tokens":4}}}\n\n',
];

describe('a relayed route', () => {
  it.each([
    ['/v1/chat/completions', '/v1/chat/completions', '/v1/chat/completions'],
    ['/chat/completions', '/v1/chat/completions', '/v1/chat/completions'],
    ['/v1/engines/coder/chat/completions', '/v1/chat/completions', '/v1/chat/completions'],
    ['/engines/coder/chat/completions', '/v1/chat/completions', '/v1/chat/completions'],
    ['/openai/deployments/coder/chat/completions', '/v1/chat/completions', '/v1/chat/completions'],
    [
      '/openai/deployments/coder/chat/completions?api-version=1',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ],
    ['/v1/responses', '/v1/responses', '/v1/responses'],
    ['/responses', '/v1/responses', '/v1/responses'],
    ['/v1/embeddings', '/v1/embeddings', '/v1/embeddings'],
    ['/embeddings', '/v1/embeddings', '/v1/embeddings'],
    ['/openai/deployments/coder/embeddings', '/v1/embeddings', '/v1/embeddings'],
  ])('%s goes to %s', async (path, target, route) => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const body = '{"model":"coder","messages":[],"input":"x","user":"u1","odd":1.0}';
    expect((await send({ url, path, body })).status).toBe(200);
    expect(gateway.seen[0]?.url).toBe(target);
    expect(gateway.seen[0]?.body).toBe('{"model":"prov/up","messages":[],"input":"x","odd":1.0}');
    expect((await rows())[0]).toMatchObject({ route, user: 'u1', modelName: 'coder', state: 'succeeded' });
  });

  it('takes the model from the path, before or without the one in the body', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const path = '/openai/deployments/coder/chat/completions';
    for (const body of ['{"messages":[]}', '{"model":"else","messages":[]}', '{"user":"u","messages":[]}']) {
      expect((await send({ url, path, body })).status).toBe(200);
    }
    for (const seen of gateway.seen)
      expect(JSON.parse(seen.body)).toEqual({ model: 'prov/up', messages: [] });
    const headers = { 'api-key': AGENT_KEY };
    expect((await send({ url, path, key: null, headers, body: '{"messages":[]}' })).status).toBe(200);
    expect((await send({ url, path: '/engines/none/chat/completions' })).status).toBe(404);
  });

  it('reads usage of responses and of embeddings in their own words', async () => {
    const gateway = await startStubGateway(answerJson(200, RESPONSE));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, path: '/v1/responses', body: RESPONSE_BODY });
    expect(received.body).toBe(RESPONSE);
    expect(gateway.seen[0]?.body).toBe('{"model":"prov/up","input":"hi"}');
    gateway.answer = answerJson(200, EMBEDDING);
    expect((await send({ url, path: '/v1/embeddings', body: RESPONSE_BODY })).body).toBe(EMBEDDING);
    const [response, embedding] = await rows();
    expect(response).toMatchObject({
      responseId: 'resp_1',
      promptTokens: 20,
      completionTokens: 5,
      cachedTokens: 8,
    });
    expect(embedding).toMatchObject({ responseId: null, promptTokens: 9, completionTokens: null });
  });

  it('prices an embedding, which has no completion', async () => {
    const gateway = await startStubGateway(answerJson(200, EMBEDDING));
    const params = { input_cost_per_token: '0.000001', output_cost_per_token: '0' };
    const { url, rows } = await startProxy({ origin: gateway.origin, params });
    await send({ url, path: '/v1/embeddings', body: RESPONSE_BODY });
    expect((await rows())[0]).toMatchObject({ cost: 9_000, costSource: 'entry' });
  });
});

describe('a stream of responses', () => {
  const body = '{"model":"coder","input":"hi","stream":true}';

  it('is relayed byte for byte, asks for nothing more, and tells its usage at the end', async () => {
    const bytes = Buffer.from(EVENTS.join(''));
    const gateway = await startStubGateway(answerStream([bytes]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    for (const size of [1, 7, bytes.length]) {
      const count = Math.ceil(bytes.length / size);
      gateway.answer = answerStream(
        Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size)),
      );
      expect((await send({ url, path: '/v1/responses', body })).body).toBe(bytes.toString());
    }
    expect(gateway.seen[0]?.body).toBe('{"model":"prov/up","input":"hi","stream":true}');
    for (const row of await rows()) {
      expect(row).toMatchObject({
        ...{ state: 'succeeded', streamed: true, responseId: 'resp_s' },
        ...{ promptTokens: 11, completionTokens: 4 },
      });
    }
  });

  it('has ended with its last event, also when the connection drops then', async () => {
    const gateway = await startStubGateway(answerStream(EVENTS, 'destroy'));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, path: '/v1/responses', body })).body).toBe(EVENTS.join(''));
    gateway.answer = answerStream(EVENTS.slice(0, 2), 'destroy');
    const cut = await send({ url, path: '/v1/responses', body });
    expect(cut.body).toContain('event: error\ndata: {"type":"error","code":"gateway_failed"');
    expect((await rows()).map((row) => row.state)).toEqual(['succeeded', 'failed']);
  });

  it('becomes a plain error when it begins with one, and fails its row when it ends in one', async () => {
    const refused = 'data: {"type":"error","code":"429","message":"slow down","param":null}\n\n';
    const gateway = await startStubGateway(answerStream([refused]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const early = await send({ url, path: '/v1/responses', body });
    expect([early.status, early.json().error.message]).toEqual([429, 'slow down']);
    const failed =
      'data: {"type":"response.failed","response":{"id":"resp_s","error":{"code":"server_error","message":"lost"}}}\n\n';
    gateway.answer = answerStream([EVENTS[0] ?? '', failed]);
    const late = await send({ url, path: '/v1/responses', body });
    expect([late.status, late.body]).toEqual([200, `${EVENTS[0]}${failed}`]);
    expect((await rows()).map((row) => row.state)).toEqual(['failed', 'failed']);
  });
});
