/** Streamed completions over real HTTP: frames, usage, errors at every point, the caller leaving. */
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { AGENT_KEY, send, startProxy, STREAM_BODY } from './proxy-under-test.ts';
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

const SHOWN_BODY =
  '{"model":"coder","messages":[],"stream_options":{"x":1,"include_usage":true},"stream":true}';
const WITHOUT_USAGE = [...CONTENT_FRAMES, DONE_FRAME].join('');

describe('a streamed completion', () => {
  it('asks for usage always and withholds its frame unless the caller asked', async () => {
    const gateway = await startStubGateway(answerStream([STREAM]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const hidden = await send({ url, body: STREAM_BODY });
    const shown = await send({ url, body: SHOWN_BODY });
    expect(hidden.body).toBe(WITHOUT_USAGE);
    expect(shown.body).toBe(STREAM);
    expect(hidden.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
    });
    expect(JSON.parse(gateway.seen[0]?.body ?? '')).toMatchObject({
      stream_options: { include_usage: true },
    });
    expect(gateway.seen[1]?.body).toBe(SHOWN_BODY.replace('coder', 'prov/up'));
    for (const row of await rows()) {
      expect(row).toMatchObject({
        state: 'succeeded',
        streamed: true,
        promptTokens: 7,
        completionTokens: 2,
        responseId: 'resp-s',
      });
    }
  });

  it('relays the same bytes however the gateway splits them', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const bytes = Buffer.from(STREAM);
    for (const size of [1, 2, 3, 7, 64]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      gateway.answer = answerStream(pieces);
      expect((await send({ url, body: STREAM_BODY })).body).toBe(WITHOUT_USAGE);
      expect((await send({ url, body: SHOWN_BODY })).body).toBe(STREAM);
    }
  });

  it('turns an error in the first frame into a plain reply with its status', async () => {
    const error = '{"error":{"message":"slow down","type":"throttling_error","param":null,"code":"429"}}';
    const gateway = await startStubGateway(answerStream([`data: ${error}\n\n`, DONE_FRAME]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, body: STREAM_BODY });
    expect([received.status, received.body, received.headers['content-type']]).toEqual([
      429,
      error,
      'application/json',
    ]);
    expect((await rows())[0]).toMatchObject({
      state: 'failed',
      httpStatus: 200,
      cost: null,
      costSource: 'unpriced',
    });
  });

  it('ends with one error frame and no [DONE] when the gateway hangs up midway', async () => {
    const [first = '', , third = ''] = CONTENT_FRAMES;
    const gateway = await startStubGateway(answerStream([first, third.slice(0, 20)], 'destroy'));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, body: STREAM_BODY });
    expect(received.isCut).toBe(false);
    expect(received.body.startsWith(`${first}data: {"error":{"message":"Cannot complete the call`)).toBe(
      true,
    );
    expect(received.body).not.toContain('[DONE]');
    expect(received.body.split('data: ')).toHaveLength(3);
    expect((await rows())[0]).toMatchObject({ state: 'failed', httpStatus: 200, responseId: 'resp-s' });
  });

  it('relays an error frame of the gateway as it is and fails the row', async () => {
    const frames = [CONTENT_FRAMES[0] ?? '', 'data: {"error":{"message":"lost","code":500}}\n\n'];
    const gateway = await startStubGateway(answerStream(frames));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, body: STREAM_BODY })).body).toBe(frames.join(''));
    expect((await rows())[0]).toMatchObject({ state: 'failed' });
  });

  it('calls a stream complete when the connection drops after [DONE]', async () => {
    const gateway = await startStubGateway(answerStream([STREAM], 'destroy'));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, body: STREAM_BODY })).body).toBe(WITHOUT_USAGE);
    expect((await rows())[0]).toMatchObject({ state: 'succeeded', promptTokens: 7 });
  });

  it('gives a plain error when the gateway hangs up before the first frame', async () => {
    const gateway = await startStubGateway(answerStream(['data: {"id"'], 'destroy'));
    const { url } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, body: STREAM_BODY });
    expect([received.status, received.json().error.code]).toEqual([502, 'gateway_failed']);
  });

  it('relays a plain reply to a streamed call, and its error status', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, body: STREAM_BODY })).body).toBe(REPLY);
    gateway.answer = answerJson(400, '{"error":{"message":"no"}}');
    expect((await send({ url, body: STREAM_BODY })).status).toBe(400);
  });

  it('holds back neither a usage frame with content nor a missing last blank line', async () => {
    const last =
      'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}\n\n';
    const gateway = await startStubGateway(answerStream([last, 'data: [DONE]']));
    const { url } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, body: STREAM_BODY })).body).toBe(`${last}data: [DONE]`);
    const empty =
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":null}],"usage":{"prompt_tokens":1}}\n\n';
    const [first = '', , , finish = ''] = CONTENT_FRAMES;
    gateway.answer = answerStream([first, empty, finish, USAGE_FRAME.trimEnd()]);
    expect((await send({ url, body: STREAM_BODY })).body).toBe(`${first}${finish}`);
  });
});

describe('a caller that goes away', () => {
  it('aborts a stream at the gateway and closes the row as aborted', async () => {
    const first = CONTENT_FRAMES[0] ?? '';
    const gateway = await startStubGateway((res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(first);
    });
    const { url, rows, proxy } = await startProxy({ origin: gateway.origin });
    await new Promise<void>((resolve) => {
      const headers = { authorization: `Bearer ${AGENT_KEY}` };
      const req = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', headers }, (res) => {
        res.on('error', () => resolve());
        res.once('data', () => req.destroy());
        res.on('close', () => resolve());
      });
      req.on('error', () => resolve());
      req.end(STREAM_BODY);
    });
    await gateway.cut;
    expect((await rows())[0]).toMatchObject({
      state: 'aborted',
      httpStatus: 200,
      responseId: 'resp-s',
      cost: null,
    });
    expect(proxy.metrics()).toMatchObject({ callsTotal: 1, callsInFlight: 0, aborted: 1, unpriced: 1 });
  });

  it('aborts a plain call that has no reply yet', async () => {
    const gateway = await startStubGateway(() => undefined);
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const leaving = new AbortController();
    const call = send({ url, signal: leaving.signal }).catch(() => null);
    await gateway.arrival(1);
    leaving.abort();
    await Promise.all([call, gateway.cut]);
    expect((await rows())[0]).toMatchObject({ state: 'aborted', httpStatus: null });
  });

  it('aborts calls still in flight when the proxy closes, and keeps their rows', async () => {
    const gateway = await startStubGateway(() => undefined);
    const { url, proxy, spend } = await startProxy({ origin: gateway.origin });
    const call = send({ url }).catch(() => null);
    await gateway.arrival(1);
    await proxy.close(0);
    await call;
    expect([...spend.rows.values()].map((row) => row.state)).toEqual(['aborted']);
  });
});
