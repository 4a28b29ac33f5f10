/** Calls of messages and their count: what goes to the gateway, what comes back, and what their rows hold. */
import { describe, expect, it } from 'vitest';
import { GATEWAY_KEY, send, SESSION_ID, startProxy, type Received } from './proxy-under-test.ts';
import { answerJson, answerStream, startStubGateway } from './stub-gateway.ts';

const PATH = '/v1/messages';
const BODY = '{"model":"coder","max_tokens":16,"messages":[{"role":"user","content":"hi"}]}';
const STREAMED = `${BODY.slice(0, -1)},"stream":true}`;

const USAGE =
  '{"input_tokens":20,"cache_creation_input_tokens":30,"cache_read_input_tokens":50,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":5}';
const REPLY = `{ "id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"error":{"a":1}}}], "stop_reason":"tool_use","usage":${USAGE}}`;
const EVENTS = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_s","type":"message","role":"assistant","content":[],"usage":{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":50,"output_tokens":1}}}\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\\"message_stop\\""}}\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
];

interface MessagesError {
  readonly type: string;
  readonly error: { readonly type: string; readonly message: string };
}

function errorOf(received: Received): MessagesError {
  return JSON.parse(received.body) as MessagesError;
}

describe('a call of messages', () => {
  it('goes on as it came but for model and user, and its reply as the gateway sent it', async () => {
    const gateway = await startStubGateway(answerJson(200, REPLY, { 'request-id': 'req_1', 'x-own': 'no' }));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const body = `${BODY.slice(0, -1)},"metadata":{"user_id":"u1","x":1.0},"odd":1.0}`;
    const received = await send({ url, path: PATH, body });
    expect([received.status, received.body]).toEqual([200, REPLY]);
    expect(received.headers['request-id']).toBe('req_1');
    expect(received.headers['x-own']).toBeUndefined();
    expect(gateway.seen[0]?.url).toBe(PATH);
    expect(gateway.seen[0]?.body).toBe(
      body.replace('"coder"', '"prov/up"').replace('{"user_id":"u1","x":1.0}', '{"x":1}'),
    );
    expect((await rows())[0]).toMatchObject({
      ...{ route: PATH, state: 'succeeded', user: 'u1', sessionId: SESSION_ID, responseId: 'msg_1' },
      ...{ promptTokens: 100, completionTokens: 5, cachedTokens: 50, cacheWriteTokens: 30 },
    });
  });

  it('costs what its kinds of tokens cost, those kept for an hour apart', async () => {
    const gateway = await startStubGateway(answerJson(200, REPLY));
    const params = {
      input_cost_per_token: '0.000003',
      output_cost_per_token: '0.000015',
      cache_read_input_token_cost: '0.0000003',
      cache_creation_input_token_cost: '0.00000375',
      cache_creation_input_token_cost_above_1hr: '0.000006',
    };
    const { url, rows } = await startProxy({ origin: gateway.origin, params });
    await send({ url, path: PATH, body: BODY });
    const cost = 20 * 3_000 + 50 * 300 + 10 * 3_750 + 20 * 6_000 + 5 * 15_000;
    expect((await rows())[0]).toMatchObject({ cost, costSource: 'entry' });
  });

  it('carries the headers of its protocol also where none is forwarded, and the gateway key', async () => {
    const gateway = await startStubGateway(answerJson(200, REPLY));
    const { url } = await startProxy({ origin: gateway.origin });
    await send({ url, path: PATH, body: BODY });
    const headers = {
      'anthropic-version': '2024-01-01',
      'anthropic-beta': 'a-1,b-2',
      'anthropic-other': 'o',
    };
    await send({ url, path: PATH, body: BODY, headers: { ...headers, 'x-mine': '1' } });
    await send({ url, path: '/v1/chat/completions', body: BODY, headers });
    const [plain, versioned, chat] = gateway.seen.map((seen) => seen.headers);
    expect(plain).toMatchObject({
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${GATEWAY_KEY}`,
    });
    expect(versioned).toMatchObject({ 'anthropic-version': '2024-01-01', 'anthropic-beta': 'a-1,b-2' });
    for (const name of ['anthropic-other', 'x-mine', 'x-api-key']) expect(versioned?.[name]).toBeUndefined();
    expect(chat?.['anthropic-version']).toBeUndefined();
  });

  it('forwards the others, too, where forwarding is on, and keeps back what is named', async () => {
    const gateway = await startStubGateway(answerJson(200, REPLY));
    const settings = { forward_client_headers_to_llm_api: true, headers_kept_back: ['anthropic-beta'] };
    const { url } = await startProxy({ origin: gateway.origin, settings });
    const headers = { 'anthropic-beta': 'a-1', 'anthropic-other': 'o', 'x-api-key': 'never' };
    await send({ url, path: PATH, body: BODY, headers });
    const [seen] = gateway.seen.map((one) => one.headers);
    expect(seen).toMatchObject({ 'anthropic-other': 'o', 'anthropic-version': '2023-06-01' });
    expect([seen?.['anthropic-beta'], seen?.['x-api-key']]).toEqual([undefined, undefined]);
  });
});

describe('a stream of messages', () => {
  it('is relayed byte for byte, however it is cut, and tells id and usage on the way', async () => {
    const bytes = Buffer.from(EVENTS.join(''));
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    for (const size of [1, 7, bytes.length]) {
      const count = Math.ceil(bytes.length / size);
      gateway.answer = answerStream(
        Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size)),
      );
      expect((await send({ url, path: PATH, body: STREAMED })).body).toBe(bytes.toString());
    }
    expect(gateway.seen[0]?.body).toBe(STREAMED.replace('"coder"', '"prov/up"'));
    for (const row of await rows()) {
      expect(row).toMatchObject({
        ...{ state: 'succeeded', streamed: true, responseId: 'msg_s' },
        ...{ promptTokens: 70, completionTokens: 9, cachedTokens: 50 },
      });
    }
  });

  it('is told to have broken off, in an event of its own words', async () => {
    const gateway = await startStubGateway(answerStream(EVENTS.slice(0, 4)));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const cut = await send({ url, path: PATH, body: STREAMED });
    const last = cut.body.slice(EVENTS.slice(0, 4).join('').length);
    expect(last).toMatch(/^event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"/);
    gateway.answer = answerStream(EVENTS, 'destroy');
    expect((await send({ url, path: PATH, body: STREAMED })).body).toBe(EVENTS.join(''));
    expect((await rows()).map((row) => row.state)).toEqual(['cut', 'succeeded']);
  });

  it('becomes a plain error when it begins with one, and fails its row when it ends in one', async () => {
    const overloaded =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    const gateway = await startStubGateway(answerStream([overloaded]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const early = await send({ url, path: PATH, body: STREAMED });
    expect([early.status, errorOf(early)]).toEqual([
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ]);
    gateway.answer = answerStream([...EVENTS.slice(0, 3), overloaded]);
    const late = await send({ url, path: PATH, body: STREAMED });
    expect([late.status, late.body]).toEqual([200, [...EVENTS.slice(0, 3), overloaded].join('')]);
    expect((await rows()).map((row) => row.state)).toEqual(['failed', 'failed']);
  });
});

describe('an error of messages', () => {
  it.each([
    ['no key', { key: null }, 401, 'authentication_error'],
    ['an unknown model', { body: BODY.replace('coder', 'none') }, 404, 'not_found_error'],
    ['no messages', { body: '{"model":"coder"}' }, 400, 'invalid_request_error'],
    ['no JSON', { body: '{' }, 400, 'invalid_request_error'],
  ])('of ours is in its words: %s', async (_name, sent, status, type) => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, path: PATH, body: BODY, ...sent });
    const { type: kind, error } = errorOf(received);
    expect([received.status, kind, error.type]).toEqual([status, 'error', type]);
    expect(error.message).toMatch(/^Cannot /);
  });

  it('of the gateway goes on as it came where it is in its words, and is put into them where not', async () => {
    const own = '{"type":"error","error":{"type":"rate_limit_error","message":"slow"},"request_id":"req_1"}';
    const gateway = await startStubGateway(answerJson(429, own, { 'retry-after': '7' }));
    const { url } = await startProxy({ origin: gateway.origin });
    const kept = await send({ url, path: PATH, body: BODY });
    expect([kept.status, kept.body, kept.headers['retry-after']]).toEqual([429, own, '7']);
    gateway.answer = answerJson(402, '{"error":{"message":"pay","type":"insufficient","code":"402"}}');
    const put = await send({ url, path: PATH, body: BODY });
    expect([put.status, errorOf(put)]).toMatchObject([402, { type: 'error', error: { message: 'pay' } }]);
    expect(errorOf(put).error.type).toBe('billing_error');
    gateway.answer = (res) => void res.writeHead(503).end(`no ${GATEWAY_KEY} today`);
    const text = await send({ url, path: PATH, body: BODY });
    expect(errorOf(text)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'no [redacted] today' },
    });
  });

  it('tells that the gateway is away', async () => {
    const { url } = await startProxy({ origin: 'http://127.0.0.1:1' });
    const received = await send({ url, path: PATH, body: BODY });
    expect([received.status, errorOf(received).error.type]).toEqual([502, 'api_error']);
  });
});

describe('the count of tokens', () => {
  it('is the gateway’s, is no call of a model, and has no row', async () => {
    const gateway = await startStubGateway(answerJson(200, '{"input_tokens": 12}'));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const body = '{"model":"coder","messages":[{"role":"user","content":"hi"}]}';
    const received = await send({ url, path: '/v1/messages/count_tokens', body });
    expect([received.status, received.body]).toEqual([200, '{"input_tokens": 12}']);
    expect(gateway.seen[0]?.url).toBe('/v1/messages/count_tokens');
    gateway.answer = answerJson(404, '{"type":"error","error":{"type":"not_found_error","message":"none"}}');
    expect((await send({ url, path: '/v1/messages/count_tokens', body })).status).toBe(404);
    expect(await rows()).toHaveLength(0);
  });
});
