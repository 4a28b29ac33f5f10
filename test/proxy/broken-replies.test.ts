/** Replies that break off or are not what they say: `cut`, never a 200 that succeeded, and never swallowed (D26). */
import { describe, expect, it } from 'vitest';
import { answerRaw, CLOSE_DELIMITED_EVENTS, CLOSE_DELIMITED_JSON } from './hostile-gateway.ts';
import { openTestStore, send, startProxy, STREAM_BODY } from './proxy-under-test.ts';
import {
  answerJson,
  answerStream,
  CONTENT_FRAMES,
  DONE_FRAME,
  REPLY,
  startStubGateway,
  STREAM,
  USAGE_FRAME,
} from './stub-gateway.ts';

const [FIRST = '', , , FINISH = ''] = CONTENT_FRAMES;
const RESPONSES = '{"model":"coder","input":"x","stream":true}';

describe('a reply that breaks off', () => {
  it('as a body that only the connection ends is cut', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    for (const body of [REPLY.slice(0, 60), '{"id":"r","choices":[', '']) {
      gateway.answer = answerRaw([CLOSE_DELIMITED_JSON, body]);
      const received = await send({ url });
      expect([received.status, received.json().error.code]).toEqual([502, 'gateway_failed']);
    }
    gateway.answer = answerRaw([CLOSE_DELIMITED_JSON, REPLY]);
    expect((await send({ url })).body).toBe(REPLY);
    expect((await rows()).map((row) => row.state)).toEqual(['cut', 'cut', 'cut', 'succeeded']);
  });

  it.each([
    ['in a frame', [FIRST, FINISH.slice(0, 30)], FIRST],
    ['between two', [FIRST], FIRST],
    [
      'with an empty reason to finish',
      [FIRST, FINISH.replace('"stop"', '""')],
      `${FIRST}${FINISH.replace('"stop"', '""')}`,
    ],
    ['behind the usage', [FIRST, USAGE_FRAME], FIRST],
  ])('as a stream is cut %s, and the caller is told', async (_, frames, relayed) => {
    const gateway = await startStubGateway(answerRaw([CLOSE_DELIMITED_EVENTS, ...frames]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, body: STREAM_BODY });
    expect(received.body.startsWith(`${relayed}data: {"error":{"message":"Cannot complete`)).toBe(true);
    expect(received.body).not.toContain('[DONE]');
    expect((await rows())[0]).toMatchObject({ state: 'cut', httpStatus: 200 });
  });

  it('before its first frame is cut with a plain error, and tried again', async () => {
    const gateway = await startStubGateway(answerStream([]));
    const { url, rows } = await startProxy({ origin: gateway.origin, router: { num_retries: 1 } });
    const received = await send({ url, body: STREAM_BODY });
    expect([received.status, received.json().error.code]).toEqual([502, 'gateway_failed']);
    expect((await rows()).map((row) => row.state)).toEqual(['cut', 'cut']);
  });

  it('in responses is told by an event', async () => {
    const frame = 'event: response.created\ndata: {"type":"response.created","response":{"id":"r"}}\n\n';
    const gateway = await startStubGateway(answerStream([frame]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, path: '/v1/responses', body: RESPONSES });
    expect(
      received.body.startsWith(`${frame}event: error\ndata: {"type":"error","code":"gateway_failed"`),
    ).toBe(true);
    expect((await rows())[0]?.state).toBe('cut');
  });

  it('is whole with a reason to finish, and with [DONE] alone', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const long = `data: {"choices":[{"finish_reason":"stop","delta":{"content":"${'x'.repeat(200_000)}"}}]}\n\n`;
    for (const frames of [[FIRST, FINISH], [FIRST, DONE_FRAME], [long]]) {
      gateway.answer = answerStream(frames);
      expect((await send({ url, body: STREAM_BODY })).body).toBe(frames.join(''));
    }
    expect((await rows()).map((row) => row.state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });
});

describe('a reply that is not what it says', () => {
  it('is passed on as what it is', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    gateway.answer = answerJson(200, REPLY, { 'content-type': 'text/event-stream' });
    const json = await send({ url, body: STREAM_BODY });
    expect([json.headers['content-type'], json.body]).toEqual(['application/json', REPLY]);
    const stream = [...CONTENT_FRAMES, DONE_FRAME].join('');
    for (const type of ['application/json', 'text/plain']) {
      gateway.answer = answerJson(200, `\n${STREAM}`, { 'content-type': type });
      const events = await send({ url, body: STREAM_BODY });
      expect([events.headers['content-type'], events.body]).toEqual(['text/event-stream', `\n${stream}`]);
    }
    gateway.answer = answerJson(200, `\uFEFF${REPLY}`);
    expect((await send({ url })).status).toBe(200);
    expect((await rows()).map((row) => [row.state, row.promptTokens])).toEqual([
      ['succeeded', 10],
      ['succeeded', 7],
      ['succeeded', 7],
      ['succeeded', 10],
    ]);
  });

  it('reads a stream whose lines end in a carriage return', async () => {
    const stream = STREAM.replaceAll('\r\n', '\n').replaceAll('\n', '\r');
    const hidden = stream.replace(USAGE_FRAME.replaceAll('\n', '\r'), '');
    const gateway = await startStubGateway(answerStream([stream]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, body: STREAM_BODY })).body).toBe(hidden);
    expect((await rows())[0]).toMatchObject({ state: 'succeeded', promptTokens: 7, responseId: 'resp-s' });
  });
});

describe('what HTTP allows', () => {
  const HEAD = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(REPLY)}\r\n`;
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

  it.each([
    ['a 100', [CONTINUE, HEAD, '\r\n', REPLY]],
    [
      'two of them with headers, in pieces',
      ['HTTP/1.', `1 100 Continue\r\nserver: x\r\n`, `\r\n${CONTINUE}${HEAD}\r\n`, REPLY],
    ],
    ['early hints', ['HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', HEAD, '\r\n', REPLY]],
    ['a long header', [HEAD, `x-policy: ${'p'.repeat(100_000)}\r\n`, '\r\n', REPLY]],
    ['a long header that is passed on', [HEAD, `x-ratelimit-note: ${'p'.repeat(30_000)}\r\n`, '\r\n', REPLY]],
  ])('is no unreachable gateway: %s', async (_, pieces) => {
    const gateway = await startStubGateway(answerRaw(pieces));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    for (let i = 0; i < 2; i += 1) {
      const received = await send({ url });
      expect([received.status, received.body]).toEqual([200, REPLY]);
    }
    expect((await rows()).map((row) => row.state)).toEqual(['succeeded', 'succeeded']);
  });

  it('is another failure than an unreachable gateway where it is none', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    for (const pieces of [
      ['220 mail.example ready\r\n'],
      [HEAD, `x-a: ${'p'.repeat(300_000)}\r\n\r\n`, REPLY],
    ]) {
      gateway.answer = answerRaw(pieces);
      const received = await send({ url });
      expect([received.status, received.json().error.code]).toEqual([502, 'gateway_failed']);
    }
  });

  it('keeps connections on which a 100 came', async () => {
    const ports = new Set<number | undefined>();
    const gateway = await startStubGateway((res) => {
      ports.add(res.socket?.remotePort);
      res.writeContinue();
      res.end(REPLY);
    });
    const { url } = await startProxy({ origin: gateway.origin });
    for (let i = 0; i < 3; i += 1) expect((await send({ url })).body).toBe(REPLY);
    expect(ports.size).toBe(1);
  });
});

describe('usage beyond all prices', () => {
  const body = (tokens: string): string =>
    `{"id":"r","choices":[],"usage":{"prompt_tokens":${tokens},"completion_tokens":${tokens}}}`;
  const params = { input_cost_per_token: '0.00001', output_cost_per_token: '0.00001' };

  it.each(['1000000000000000', '1e300', '-5', '"many"'])('of %s tokens closes its row', async (tokens) => {
    const gateway = await startStubGateway(answerJson(200, body(tokens)));
    const { url, rows } = await startProxy({ origin: gateway.origin, params });
    for (let i = 0; i < 2; i += 1) expect((await send({ url })).status).toBe(200);
    for (const row of await rows()) expect(row).toMatchObject({ state: 'succeeded', cost: null });
  });

  it('is kept by a real store, and stops a budget of a key', async () => {
    const store = await openTestStore();
    const gateway = await startStubGateway(answerJson(200, body('1000000000000000')));
    const { url, rows } = await startProxy({ origin: gateway.origin, params, store });
    const made = await send({ url, path: '/key/generate', key: 'sk-master-000', body: '{"max_budget":1}' });
    const { key } = JSON.parse(made.body) as { key: string };
    expect((await send({ url, key })).status).toBe(200);
    const refused = await send({ url, key });
    expect([refused.status, refused.json().error.code]).toEqual([429, 'budget_exceeded']);
    const all = await rows();
    expect(all.map((row) => [row.state, row.promptTokens, row.cost])).toEqual([['succeeded', 1e15, null]]);
  });
});
