/**
 * Clients in Python in front of our proxy, unmodified: the SDKs of OpenAI and Anthropic, LiteLLM as a client, and a LiteLLM proxy that
 * takes ours for one of its own kind.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { requirePeerPython } from '../helpers/python-peers.ts';
import { answerOrFail, failingEntries } from './failing-vendor.ts';
import { COST } from './message-vendor.ts';
import { startLitellm, type Litellm } from './litellm.ts';
import { AGENT_KEY, openProxy, type OpenProxy } from './open-proxy.ts';
import { openStubVendor, type StubVendor } from './stub-vendor.ts';

const FRONT_KEY = 'sk-front';
const CLIENTS_MS_MAX = 600_000;
const PLAIN = { text: 'héllo', tokens: 2072 };

describeWith('litellm', 'clients in Python in front of our proxy', () => {
  let vendor: StubVendor;
  let proxy: OpenProxy;
  let front: Litellm;
  let results: Readonly<Record<string, unknown>>;
  beforeAll(async () => {
    vendor = await openStubVendor();
    vendor.answer = answerOrFail;
    proxy = await openProxy({ vendor: 'litellm', entries: failingEntries(vendor.origin) });
    const params = { model: 'litellm_proxy/coder', api_base: proxy.url, api_key: AGENT_KEY };
    front = await startLitellm({
      keys: { [FRONT_KEY]: { alias: 'front', team: 'front' } },
      models: [{ name: 'chained', params }],
    });
    const script = path.join(import.meta.dirname, 'python_clients.py');
    const { stdout } = await promisify(execFile)(
      requirePeerPython('litellm'),
      [script, proxy.url, AGENT_KEY],
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          PYTHONDONTWRITEBYTECODE: '1',
        },
      },
    );
    results = JSON.parse(stdout.split('\n').filter(Boolean).at(-1) ?? '{}') as typeof results;
  }, CLIENTS_MS_MAX);
  afterAll(async () => {
    await front?.stop();
    await proxy?.close();
    await vendor?.close();
  });

  it.each(['openai', 'litellm'])('%s: completions, streams and tools work', (client) => {
    expect(results[`${client}.chat`]).toEqual(PLAIN);
    expect(results[`${client}.stream`]).toEqual({ text: PLAIN.text, tokens: [PLAIN.tokens] });
    expect(results[`${client}.tools`]).toEqual({ name: 'terminal', arguments: '{"command":"ls"}' });
  });

  it('anthropic: messages and streams with thoughts, tools and cached tokens, and counts', () => {
    const said = { thinking: 'first look', input: { command: 'ls' }, tokens: [20, 10, 50, 5] };
    expect(results['anthropic.message']).toEqual(said);
    expect(results['anthropic.stream']).toEqual(said);
    expect(results['anthropic.all']).toEqual(said);
    expect(results['anthropic.count']).toBe(12);
  });

  it('anthropic: what a caller sends reaches the vendor as it is, but for key, model and user', () => {
    const seen = vendor.seen.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>);
    expect(seen.find(({ thinking }) => thinking !== undefined)).toMatchObject({
      model: 'acme/coder-1',
      thinking: { type: 'enabled', budget_tokens: 32 },
      tools: [{ name: 'terminal' }],
      system: [{ cache_control: { type: 'ephemeral' } }],
      metadata: {},
    });
  });

  it('anthropic: a stream that is left, is cut or fails in words is told as that', () => {
    expect(results['anthropic.left']).toBe('message_start');
    expect(results['anthropic.breaks']).toEqual({ exception: 'APIStatusError', status: 200 });
    expect(results['anthropic.overloads']).toEqual({ exception: 'OverloadedError', status: 529 });
  });

  it('anthropic: each call has its row, with every kind of token and its cost to the nano-dollar', async () => {
    const of = async (model: string) =>
      (await proxy.rows()).filter((row) => row.route === '/v1/messages' && row.modelName === model);
    const whole = {
      ...{ state: 'succeeded', responseId: 'msg_1', promptTokens: 80, completionTokens: 5 },
      ...{ cachedTokens: 50, cacheWriteTokens: 10, reasoningTokens: 3, cost: COST },
    };
    const answered = await of('coder');
    expect(answered).toMatchObject([whole, { ...whole, streamed: true }, { ...whole, user: 'ada' }]);
    await expect.poll(async () => (await of('hangs')).map(({ state }) => state)).toEqual(['aborted']);
    expect((await of('breaks')).map(({ state }) => state)).toEqual(['cut']);
    expect((await of('overloads')).map(({ state }) => state)).toEqual(['failed']);
    for (const status of [400, 404, 429, 500])
      expect((await of(`fails-${status}`)).map(({ state, cost }) => [state, cost])).toEqual([
        ['failed', expect.toBeOneOf([0, null])],
      ]);
  });

  it.each(['openai', 'anthropic'])('G29: %s: discovers the models', (client) => {
    expect(results[`${client}.models`]).toEqual([
      'breaks',
      'coder',
      'fails-400',
      'fails-404',
      'fails-429',
      'fails-500',
      'hangs',
      'overloads',
    ]);
  });

  it.each([
    ['openai.unknown', 'NotFoundError', 404],
    ['openai.key', 'AuthenticationError', 401],
    ['openai.400', 'BadRequestError', 400],
    ['openai.404', 'NotFoundError', 404],
    ['openai.429', 'RateLimitError', 429],
    ['openai.500', 'InternalServerError', 500],
    ['anthropic.unknown', 'NotFoundError', 404],
    ['anthropic.key', 'AuthenticationError', 401],
    ['anthropic.400', 'BadRequestError', 400],
    ['anthropic.404', 'NotFoundError', 404],
    ['anthropic.429', 'RateLimitError', 429],
    ['anthropic.500', 'InternalServerError', 500],
    ['litellm.unknown', 'NotFoundError', 404],
    ['litellm.key', 'AuthenticationError', 401],
    ['litellm.400', 'BadRequestError', 400],
    ['litellm.429', 'RateLimitError', 429],
    ['litellm.500', 'InternalServerError', 500],
  ])('%s is told as %s', (name, exception, status) => {
    expect(results[name]).toEqual({ exception, status });
  });

  it('a LiteLLM proxy in front takes ours for one of its own, streamed and not, with the same usage', async () => {
    for (const stream of [false, true]) {
      const response = await fetch(`${front.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${FRONT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'chained', stream, messages: [{ role: 'user', content: 'hello' }] }),
      });
      expect(response.status).toBe(200);
      await response.text();
    }
    const rows = await front.rows(2);
    const ours = (await proxy.rows()).slice(-2);
    expect(rows.map((row) => [row.request_id, row.prompt_tokens, row.completion_tokens])).toEqual(
      ours.map((row) => [row.responseId, row.promptTokens, row.completionTokens]),
    );
    expect(ours.map((row) => row.promptTokens)).toEqual([2011, 2011]);
  });
});
