/**
 * Anthropic's SDK for Node in front of our proxy and of the scripted gateway, unmodified: messages, streams, tools,
 * thinking, caches, counts, an abort, and failures as its own classes.
 */
import Anthropic, * as sdk from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerJson, answerStream } from '../proxy/stub-gateway.ts';
import { sampleScript, startGateway } from '../scripted-gateway/gateway-fixture.ts';
import { BEGUN, breakOff, COST, PRICES, REPLY, STREAM, THOUGHT, TOOL, USAGE } from './message-vendor.ts';
import { AGENT_KEY, openProxy, SESSION_ID, type OpenProxy } from './open-proxy.ts';
import { openStubVendor, type StubVendor } from './stub-vendor.ts';

const ASK = {
  model: 'claude',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'hello' }],
  metadata: { user_id: 'ada' },
};

describe('Anthropic’s SDK for Node in front of the proxy', () => {
  let vendor: StubVendor;
  let proxy: OpenProxy;
  let client: Anthropic;
  beforeAll(async () => {
    vendor = await openStubVendor();
    const params = {
      model: 'openai/vendor/claude',
      api_base: `${vendor.origin}/v1`,
      api_key: 'sk-vendor-key',
    };
    proxy = await openProxy({
      vendor: 'litellm',
      entries: [{ name: 'claude', params: { ...params, ...PRICES } }],
    });
    client = new Anthropic({ baseURL: proxy.url, apiKey: AGENT_KEY, maxRetries: 0 });
  });
  afterAll(async () => {
    await proxy.close();
    await vendor.close();
  });

  it('gets a message with thinking, a tool call and cached tokens, and its row has them to the nano-dollar', async () => {
    vendor.answer = answerJson(200, JSON.stringify(REPLY));
    const reply = await client.messages.create({ ...ASK, thinking: { type: 'enabled', budget_tokens: 32 } });
    expect(reply.content).toEqual([THOUGHT, TOOL]);
    expect(reply.usage).toMatchObject(USAGE);
    expect((await proxy.rows()).at(-1)).toMatchObject({
      ...{
        state: 'succeeded',
        route: '/v1/messages',
        user: 'ada',
        sessionId: SESSION_ID,
        responseId: 'msg_1',
      },
      ...{
        promptTokens: 80,
        completionTokens: 5,
        cachedTokens: 50,
        cacheWriteTokens: 10,
        reasoningTokens: 3,
        cost: COST,
      },
    });
    const seen = vendor.seen.at(-1);
    expect(JSON.parse(seen?.body ?? '')).toMatchObject({ model: 'vendor/claude', metadata: {} });
    expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith('x-'))).toEqual([]);
    expect(seen?.headers).toMatchObject({
      // Whatever version the SDK speaks.
      'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      authorization: 'Bearer sk-vendor-key',
    });
  });

  it('takes a key as a bearer credential, too', async () => {
    const bearer = new Anthropic({ baseURL: proxy.url, apiKey: null, authToken: AGENT_KEY, maxRetries: 0 });
    expect((await bearer.messages.create(ASK)).id).toBe('msg_1');
  });

  it('reads a stream to its end, events and the message that they add up to', async () => {
    vendor.answer = answerStream(STREAM);
    const stream = client.messages.stream(ASK);
    const types: string[] = [];
    stream.on('streamEvent', ({ type }) => types.push(type));
    const message = await stream.finalMessage();
    expect(message.content).toEqual([THOUGHT, TOOL]);
    expect(message.usage).toMatchObject(USAGE);
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
    const row = (await proxy.rows()).at(-1);
    expect(row).toMatchObject({ state: 'succeeded', streamed: true, responseId: 'msg_1', cost: COST });
  });

  it('counts tokens, without a row', async () => {
    vendor.answer = answerJson(200, '{"input_tokens":12}');
    const before = (await proxy.rows()).length;
    const { model, messages } = ASK;
    expect((await client.messages.countTokens({ model, messages })).input_tokens).toBe(12);
    expect((await proxy.rows()).length).toBe(before);
  });

  it('discovers the models', async () => {
    const names: string[] = [];
    for await (const model of client.models.list()) names.push(model.id);
    expect(names).toEqual(['claude']);
  });

  it.each([
    [400, 'invalid_request_error', sdk.BadRequestError],
    [401, 'authentication_error', sdk.AuthenticationError],
    [403, 'permission_error', sdk.PermissionDeniedError],
    [404, 'not_found_error', sdk.NotFoundError],
    [429, 'rate_limit_error', sdk.RateLimitError],
    [500, 'api_error', sdk.InternalServerError],
    [529, 'overloaded_error', sdk.InternalServerError],
  ] as const)('tells a %i of the gateway by its own class and type', async (status, type, expected) => {
    const error = { type, message: 'because' };
    vendor.answer = answerJson(status, JSON.stringify({ type: 'error', error }));
    const failure = await client.messages.create(ASK).catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(expected);
    expect((failure as InstanceType<typeof sdk.APIError>).error).toMatchObject({ error });
  });

  it('tells our own failures by its own class, and waits as long as it is told', async () => {
    const stranger = client.withOptions({ apiKey: 'sk-wrong' });
    await expect(stranger.messages.create(ASK)).rejects.toBeInstanceOf(sdk.AuthenticationError);
    const unknown = await client.messages
      .create({ ...ASK, model: 'nobody' })
      .catch((cause: unknown) => cause);
    expect(unknown).toBeInstanceOf(sdk.NotFoundError);
    expect(unknown).toMatchObject({ type: 'not_found_error', errorCode: 'model_not_found' });
    let tries = 0;
    vendor.answer = (res, seen) => {
      tries += 1;
      const limited = '{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}';
      if (tries === 1) answerJson(429, limited, { 'retry-after-ms': '5' })(res, seen);
      else answerJson(200, JSON.stringify(REPLY))(res, seen);
    };
    expect((await client.withOptions({ maxRetries: 1 }).messages.create(ASK)).id).toBe('msg_1');
    expect(tries).toBe(2);
  });

  it('tells that a stream broke off, or failed in the middle', async () => {
    for (const model of ['breaks', 'overloads'] as const) {
      vendor.answer = (res) => breakOff(model, res);
      await expect(client.messages.stream(ASK).finalMessage()).rejects.toBeInstanceOf(sdk.APIError);
    }
    const states = async () => (await proxy.rows()).slice(-2).map(({ state }) => state);
    await expect.poll(states).toEqual(['cut', 'failed']);
  });

  it('ends the call at the gateway when it is aborted, and its row says so', async () => {
    let left: () => void = () => undefined;
    const isLeft = new Promise<void>((resolve) => (left = resolve));
    vendor.answer = (res) => {
      res.on('close', left);
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(BEGUN);
    };
    const stream = client.messages.stream(ASK);
    await new Promise<void>((resolve) => stream.on('streamEvent', () => resolve()));
    stream.abort();
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(sdk.APIUserAbortError);
    await isLeft;
    await expect
      .poll(async () => (await proxy.rows()).at(-1))
      .toMatchObject({ state: 'aborted', promptTokens: 80 });
  });
});

describe('Anthropic’s SDK for Node in front of the scripted gateway', () => {
  const ask = {
    model: 'vendor/small',
    max_tokens: 64,
    messages: [{ role: 'user' as const, content: 'fix the bug' }],
  };

  it('goes through a script, turn by turn, the error of a turn included, and is billed', async () => {
    const { url, ledger } = await startGateway(sampleScript);
    const client = new Anthropic({ baseURL: url, apiKey: 'sk-admin', maxRetries: 0 });
    const first = await client.messages.create(ask);
    expect(first.content).toMatchObject([
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'call_fix_0_0', name: 'terminal', input: { command: 'ls' } },
    ]);
    expect(first.stop_reason).toBe('tool_use');
    const messages: Anthropic.MessageParam[] = [
      ...ask.messages,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_fix_0_0', content: 'a.txt' }] },
    ];
    await expect(client.messages.create({ ...ask, messages })).rejects.toBeInstanceOf(sdk.RateLimitError);
    const second = await client.messages.stream({ ...ask, messages }).finalMessage();
    expect(second.content).toMatchObject([
      { name: 'editor', input: { path: 'a.txt', text: 'héllo\nworld 🙂' } },
      { name: 'terminal', input: {} },
    ]);
    expect(second.usage).toMatchObject({ input_tokens: 1000, output_tokens: 10 });
    const billed = ledger.rows().map(({ request_id, prompt_tokens }) => [request_id, prompt_tokens]);
    expect(billed).toEqual([
      ['msg_id1', first.usage.input_tokens],
      ['msg_id2', 1000],
    ]);
    const { model } = ask;
    const counted = await client.messages.countTokens({ model, messages: ask.messages });
    expect(counted.input_tokens).toBe(first.usage.input_tokens);
  });

  it('is told in its own words who may call, and what cannot be read', async () => {
    const { url } = await startGateway(sampleScript);
    const client = new Anthropic({ baseURL: url, apiKey: 'sk-nobody', maxRetries: 0 });
    await expect(client.messages.create(ask)).rejects.toBeInstanceOf(sdk.AuthenticationError);
    const known = client.withOptions({ apiKey: 'sk-team' });
    await expect(known.messages.create({ ...ask, model: 'vendor/large' })).rejects.toBeInstanceOf(
      sdk.PermissionDeniedError,
    );
    await expect(known.messages.create({ ...ask, messages: [] })).rejects.toBeInstanceOf(sdk.BadRequestError);
  });
});
