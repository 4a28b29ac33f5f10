/** Errors where an answer belongs: the caller sees them, the row says `failed`, a retry goes by their code (D22). */
import { describe, expect, it } from 'vitest';
import { errorOf, statusOfError } from '../../proxy/in-band-error.ts';
import { entryFor, GATEWAY_KEY, send, startProxy, STREAM_BODY } from './proxy-under-test.ts';
import {
  answerJson,
  answerStream,
  CONTENT_FRAMES,
  DONE_FRAME,
  REPLY,
  startStubGateway,
} from './stub-gateway.ts';

const error = (error: unknown): object => ({ error });

describe('statusOfError()', () => {
  it.each([
    [error({ code: 429 }), 429],
    [error({ code: '503' }), 503],
    [error({ code: 'http_404' }), 404],
    [error({ status: 402, code: 'x' }), 402],
    [{ error: 'busy', status: 503 }, 503],
    [error({ code: 'rate_limit_exceeded' }), 429],
    [error({ code: null, type: 'rate_limit_error' }), 429],
    [error({ code: 1302, type: 'RateLimitError' }), 429],
    [error({ status: 'RESOURCE_EXHAUSTED' }), 429],
    [error({ type: 'ThrottlingException' }), 429],
    [error({ code: 'insufficient_quota', type: 'insufficient_quota' }), 429],
    [error({ type: 'overloaded_error' }), 529],
    [error({ code: 'invalid_api_key' }), 401],
    [error({ code: 'model_not_found' }), 404],
    [error({ type: 'invalid_request_error', code: 'context_length_exceeded' }), 400],
    [error({ type: 'server_error' }), 500],
    [error({ type: 'timeout_error' }), 504],
    [{ error: 'too_many_requests' }, 429],
    [error({ message: 'what?' }), 502],
    [error({ code: 200 }), 502],
    [error({ code: '4290' }), 502],
  ])('of %j is %i', (frame, status) => expect(statusOfError(frame as Record<string, unknown>)).toBe(status));
});

describe('errorOf()', () => {
  it.each([
    ['none', { choices: [], error: null }, null],
    ['false', { choices: [], error: false }, null],
    ['an empty text', { choices: [], error: '' }, null],
    ['one of a choice', { choices: [{ error: { code: 502 }, finish_reason: 'error' }] }, { code: 502 }],
    ['one as an object', { object: 'error', message: 'm', type: 'NotFoundError', code: 404 }, { code: 404 }],
  ])('reads %s', (_, json, expected) => {
    const found = errorOf(json);
    if (expected === null) expect(found).toBeNull();
    else expect(found?.['error']).toMatchObject(expected);
  });

  it('reads a choice that says no more than that it failed', () => {
    expect(errorOf({ choices: [{ delta: {}, finish_reason: 'error' }] })).not.toBeNull();
  });
});

const LIMITED =
  '{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}';

describe('an error in a 200', () => {
  it.each([
    ['the error alone', LIMITED, 429],
    ['a list of one', `[${LIMITED}]`, 429],
    ['beside usage', `{"id":"r","choices":[],"usage":{"prompt_tokens":1},${LIMITED.slice(1)}`, 429],
    ['of a choice', `{"choices":[{"index":0,"error":{"code":503,"message":"slow down"}}]}`, 503],
    ['as a text', '{"error":"slow down","code":503}', 503],
  ])('is one: %s', async (_, body, status) => {
    const gateway = await startStubGateway(answerJson(200, body));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url });
    expect([received.status, received.json().error.message]).toEqual([status, 'slow down']);
    expect(received.headers['content-type']).toBe('application/json');
    expect((await rows())[0]).toMatchObject({ state: 'failed', httpStatus: 200 });
  });

  it('has no key of the gateway in it', async () => {
    const gateway = await startStubGateway(answerJson(200, `{"error":{"message":"bad ${GATEWAY_KEY}"}}`));
    const { url } = await startProxy({ origin: gateway.origin });
    expect((await send({ url })).json().error.message).toBe('bad [redacted]');
  });

  it('is none where a model only speaks of one', async () => {
    const message = { role: 'assistant', content: '{"error": {"code": 429}}', refusal: null };
    const body = JSON.stringify({ id: 'r', choices: [{ message, finish_reason: 'stop' }], error: null });
    const gateway = await startStubGateway(answerJson(200, body));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    expect((await send({ url })).body).toBe(body);
    expect((await rows())[0]?.state).toBe('succeeded');
  });

  it('stays in the words of responses where it stands in one', async () => {
    const body =
      '{"id":"r","object":"response","status":"failed","error":{"code":"server_error","message":"m"}}';
    const gateway = await startStubGateway(answerJson(200, body));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, path: '/v1/responses', body: '{"model":"coder","input":"x"}' });
    expect([received.status, received.body]).toEqual([200, body]);
    expect((await rows())[0]?.state).toBe('failed');
  });

  it.each([
    ['a page', '<!doctype html><title>Sign in</title>', 'text/html'],
    ['a page as JSON', '<html>Sign in</html>', 'application/json'],
    ['a page as a stream', '<html>Sign in</html>', 'text/event-stream'],
    ['a text', 'Sign in', 'text/plain'],
  ])('may be %s', async (_, body, type) => {
    const gateway = await startStubGateway(answerJson(200, body, { 'content-type': type }));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    for (const sent of [undefined, STREAM_BODY]) {
      const received = await send({ url, ...(sent === undefined ? {} : { body: sent }) });
      expect([received.status, received.json().error.code]).toEqual([502, 'gateway_failed']);
      expect(received.json().error.message).toContain('Sign in');
    }
    expect((await rows()).map((row) => row.state)).toEqual(['failed', 'failed']);
  });
});

describe('an error in a stream', () => {
  const [first = '', , , finish = ''] = CONTENT_FRAMES;

  it.each([
    [
      'with usage and empty choices',
      'data: {"choices":[],"usage":{"prompt_tokens":7},"error":{"message":"lost"}}\n\n',
    ],
    [
      'of a choice',
      'data: {"choices":[{"delta":{},"finish_reason":"error"}],"usage":{"prompt_tokens":7}}\n\n',
    ],
    ['by name', 'event: error\ndata: {"object":"error","message":"lost","code":500}\n\n'],
  ])('%s is seen and fails the row', async (_, frame) => {
    const gateway = await startStubGateway(answerStream([first, frame, finish, DONE_FRAME]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    expect((await send({ url, body: STREAM_BODY })).body).toBe(`${first}${frame}${finish}${DONE_FRAME}`);
    expect((await rows())[0]?.state).toBe('failed');
  });

  it('has its status behind comments, too', async () => {
    const gateway = await startStubGateway(
      answerStream([': WAITING\n\n', ': WAITING\n\n', `data: ${LIMITED}\n\n`]),
    );
    const { url } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, body: STREAM_BODY });
    expect([received.status, received.body]).toEqual([429, LIMITED]);
  });

  it('does not hold comments for long, nor lose them', async () => {
    const comments = Array.from({ length: 80 }, () => ': PROCESSING\n\n');
    const gateway = await startStubGateway(answerStream([...comments, first, finish, DONE_FRAME]));
    const { url } = await startProxy({ origin: gateway.origin });
    const { body } = await send({ url, body: STREAM_BODY });
    expect(body).toBe(`${comments.join('')}${first}${finish}${DONE_FRAME}`);
  });
});

describe('a further try', () => {
  it('follows an error in a 200 by its code, after the pause that it asks for', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin, router: { num_retries: 1 } });
    const table: readonly [string, string, number][] = [
      [LIMITED, 'application/json', 2],
      [`data: ${LIMITED}\n\n`, 'text/event-stream', 2],
      ['<html></html>', 'text/html', 2],
      ['{"error":{"message":"no","code":"invalid_request_error"}}', 'application/json', 1],
    ];
    for (const [body, type, tries] of table) {
      gateway.seen.length = 0;
      const headers = { 'content-type': type, 'retry-after-ms': '5' };
      gateway.answer = (res, seen) =>
        (gateway.seen.length === 1 ? answerJson(200, body, headers) : answerJson(200, REPLY))(res, seen);
      const received = await send({ url });
      expect([gateway.seen.length, received.status]).toEqual([tries, tries === 2 ? 200 : 400]);
    }
    expect((await rows()).map((row) => row.state)).toEqual([
      ...Array.from({ length: 3 }, () => ['failed', 'succeeded']).flat(),
      'failed',
    ]);
    gateway.answer = answerJson(200, LIMITED, { 'retry-after': '3600' });
    gateway.seen.length = 0;
    expect((await send({ url })).status).toBe(429);
    expect(gateway.seen).toHaveLength(1);
  });

  it('turns to the fallback', async () => {
    const [main, spare] = [await startStubGateway(answerJson(200, LIMITED)), await startStubGateway()];
    const models = [entryFor(main.origin), { ...entryFor(spare.origin), model_name: 'spare' }];
    const router = { fallbacks: [{ coder: ['spare'] }] };
    const { url } = await startProxy({ origin: main.origin, models, router });
    expect((await send({ url })).body).toBe(REPLY);
  });
});
