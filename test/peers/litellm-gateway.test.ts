/**
 * LiteLLM as the external gateway behind our proxy, in both ways to name it: nothing is lost on the way there or back,
 * and both sides count the same. LiteLLM's account is its own record, one row of its table of spend for each call.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { reconcile } from '../../core/reconcile/reconcile.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import { parseExport } from '../../clients/gateway/export-rows.ts';
import { describeWith } from '../helpers/requires.ts';
import { answerJson } from '../proxy/stub-gateway.ts';
import { startLitellm, type Litellm } from './litellm.ts';
import { AGENT_KEY, openProxy, SESSION_ID, type OpenProxy } from './open-proxy.ts';
import { answerChat, openStubVendor, type StubVendor } from './stub-vendor.ts';

const TEAM_KEY = 'sk-litellm-team-red';
const VENDOR_KEY = 'sk-vendor-key';
const START_MS_MAX = 600_000;
const PRICES = { input_cost_per_token: '0.0000012375', output_cost_per_token: '0.0000049625' };
const TOOLS = [{ type: 'function', function: { name: 'terminal', parameters: { type: 'object' } } }];

/** Both kinds of prefix, as models of one proxy, and a second model on the same gateway. */
const MODELS = ['other-product', 'same-product', 'second'] as const;

const FIRST_FRAME =
  'data: {"id":"r","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hé"},"finish_reason":null}]}\n\n';

interface ChatReply {
  readonly id: string;
  readonly choices: readonly {
    readonly message: { readonly content: string | null; readonly tool_calls?: object[] };
  }[];
  readonly usage: { readonly total_tokens: number };
}

interface Chunk {
  readonly id: string;
  readonly choices: readonly { readonly delta: Delta }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}

interface Delta {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
}

describeWith('litellm', 'LiteLLM behind our proxy', () => {
  let vendor: StubVendor;
  let litellm: Litellm;
  let proxy: OpenProxy;

  beforeAll(async () => {
    vendor = await openStubVendor();
    const params = (model: string) => ({
      model: `openai/${model}`,
      api_base: `${vendor.origin}/v1`,
      api_key: VENDOR_KEY,
    });
    const cost = { input_cost_per_token: 0.0000012375, output_cost_per_token: 0.0000049625 };
    litellm = await startLitellm({
      keys: { [TEAM_KEY]: { alias: 'red-key', team: 'red' } },
      models: [
        { name: 'acme/coder-1', params: { ...params('acme/coder-1'), ...cost } },
        { name: 'coder-2', params: { ...params('acme/coder-2'), ...cost } },
      ],
    });
    const openai = { api_base: `${litellm.origin}/v1`, api_key: TEAM_KEY, ...PRICES };
    proxy = await openProxy({
      vendor: 'litellm',
      forwards: true,
      entries: [
        { name: 'other-product', params: { model: 'openai/acme/coder-1', ...openai } },
        {
          name: 'same-product',
          params: { ...openai, model: 'litellm_proxy/acme/coder-1', api_base: litellm.origin },
        },
        { name: 'second', params: { ...openai, model: 'litellm_proxy/coder-2', api_base: litellm.origin } },
        { name: 'unknown-there', params: { model: 'openai/acme/none', ...openai } },
        { name: 'wrong-key', params: { model: 'openai/acme/coder-1', ...openai, api_key: 'sk-nobody' } },
      ],
    });
  }, START_MS_MAX);
  afterAll(async () => {
    await proxy?.close();
    await litellm?.stop();
    await vendor?.close();
  });
  beforeEach(() => {
    vendor.answer = answerChat;
  });

  const call = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'hello' }], user: 'ada', ...body }),
    });
  const rowOf = async (responseId: string): Promise<SpendRow> => {
    const row = (await proxy.rows()).find((one) => one.responseId === responseId);
    if (row === undefined) throw new Error(`no row has the response id ${responseId}`);
    return row;
  };
  const isCounted = async (responseId: string): Promise<void> => {
    expect(await rowOf(responseId)).toMatchObject({
      state: 'succeeded',
      promptTokens: 2011,
      completionTokens: 61,
      sessionId: SESSION_ID,
      user: 'ada',
      costSource: 'entry',
    });
  };

  it.each(MODELS)('G33: %s: a chat completion comes back and is counted', async (model) => {
    const response = await call({ model });
    expect(response.status).toBe(200);
    const reply = (await response.json()) as ChatReply;
    expect(reply.choices[0]?.message.content).toBe('héllo');
    expect(reply.usage.total_tokens).toBe(2072);
    await isCounted(reply.id);
  });

  it.each(MODELS)('G33: %s: tool calls come back', async (model) => {
    const reply = (await (await call({ model, tools: TOOLS })).json()) as ChatReply;
    expect(reply.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call-1', function: { name: 'terminal', arguments: '{"command":"ls"}' } },
    ]);
    await isCounted(reply.id);
  });

  it.each(MODELS)('G33: %s: a stream comes back, usage counted although nobody asked', async (model) => {
    const { chunks, isDone } = await streamed(await call({ model, stream: true }));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('héllo');
    expect(isDone).toBe(true);
    expect(chunks.filter(({ usage }) => usage != null)).toEqual([]);
    await isCounted(chunks[0]?.id ?? '');
  });

  it('G33: a streamed tool call comes back whole, and usage when it is asked for', async () => {
    const body = {
      model: 'same-product',
      stream: true,
      tools: TOOLS,
      stream_options: { include_usage: true },
    };
    const { chunks } = await streamed(await call(body));
    const pieces = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    expect(pieces.map((piece) => piece.function.arguments).join('')).toBe('{"command":"ls"}');
    expect(chunks.flatMap(({ usage }) => (usage == null ? [] : [usage]))).toMatchObject([
      { prompt_tokens: 2011, completion_tokens: 61 },
    ]);
  });

  it('G35: LiteLLM sees its key and its name for the model, and the vendor neither of ours', async () => {
    vendor.seen.length = 0;
    await (await call({ model: 'other-product' })).text();
    const [seen] = vendor.seen;
    expect(seen?.headers['authorization']).toBe(`Bearer ${VENDOR_KEY}`);
    expect(JSON.parse(seen?.body ?? '')).toMatchObject({ model: 'acme/coder-1' });
    expect(JSON.stringify(seen)).not.toContain(AGENT_KEY);
    expect(JSON.stringify(seen)).not.toContain('ada');
  });

  it('G25: spend metadata is parsed on both sides, and the conversation and team are in its record', async () => {
    const metadata = { user: 'ada', project: 'search', nested: { ticket: 7 } };
    const reply = (await (
      await call({ model: 'same-product' }, { 'x-litellm-spend-logs-metadata': JSON.stringify(metadata) })
    ).json()) as ChatReply;
    expect((await rowOf(reply.id)).metadata).toEqual(metadata);
    const theirs = await recorded(reply.id);
    expect(theirs).toMatchObject({ team_id: 'red', session_id: SESSION_ID, end_user: '' });
    expect(JSON.parse(theirs.metadata)).toMatchObject({ spend_logs_metadata: metadata });
  });

  const recorded = async (responseId: string) => {
    const count = (await proxy.rows()).filter(({ state }) => state === 'succeeded').length;
    const row = (await litellm.rows(count)).find((one) => one.request_id === responseId);
    if (row === undefined) throw new Error(`LiteLLM recorded no ${responseId}`);
    return row;
  };

  it.each([
    ['G40', 401, { error: { message: 'bad key', type: 'authentication_error', param: null, code: '401' } }],
    ['D22', 400, { error: { message: 'bad field', type: 'invalid_request_error', param: 'n', code: '400' } }],
    ['D22', 404, { error: { message: 'gone', type: 'invalid_request_error', param: null, code: '404' } }],
    ['D22', 429, { error: { message: 'slow down', type: 'rate_limit', param: null, code: '429' } }],
    ['D22', 500, { error: { message: 'broken', type: 'server_error', param: null, code: '500' } }],
    ['D22', 503, { error: { message: 'full', type: 'server_error', param: null, code: '503' } }],
  ] as const)('%s: %i of the vendor stays what it is, three times over', async (_, status, error) => {
    vendor.answer = answerJson(status, JSON.stringify(error), { 'retry-after': '7' });
    for (const model of ['other-product', 'same-product', 'other-product']) {
      const response = await call({ model });
      expect(response.status).toBe(status);
      const { error: told } = (await response.json()) as { error: { message: string; code: string } };
      expect(told.message).toContain(error.error.message);
      expect(told.code).toBe(String(status));
    }
  });

  it.each([
    ['breaks off', FIRST_FRAME],
    ['fails in a frame', `${FIRST_FRAME}data: {"error":{"message":"lost","code":500}}\n\n`],
  ])('a stream of the vendor that %s is no success of LiteLLM and of ours', async (_, frames) => {
    vendor.answer = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(frames, () => res.destroy());
    };
    const text = await (await call({ model: 'same-product', stream: true })).text();
    expect(text).toContain('"error"');
    expect((await proxy.rows()).at(-1)?.state).not.toBe('succeeded');
  });

  it('G40: a key that LiteLLM does not know is 401, three times over', async () => {
    for (let times = 0; times < 3; times += 1) {
      const response = await call({ model: 'wrong-key' });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain('sk-nobody');
    }
  });

  it('G41: a model that LiteLLM does not know is 400', async () => {
    const response = await call({ model: 'unknown-there' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('acme/none');
  });

  it('has equal totals of tokens and money on both sides, joined exactly by response id', async () => {
    const ours = (await proxy.rows()).filter(({ state }) => state === 'succeeded');
    await litellm.rows(ours.length);
    // Of a stream that broke off it records its own estimate, or nothing, as its loop has it: the vendor says 2011.
    const theirs = parseExport(readFileSync(litellm.recordFile, 'utf8'), 'jsonl').filter(
      ({ promptTokens }) => promptTokens >= 2011,
    );
    const sum = (values: readonly (number | null)[]): number =>
      values.reduce((all: number, value) => all + (value ?? 0), 0);
    expect(ours.length).toBeGreaterThan(9);
    expect(sum(theirs.map((row) => row.promptTokens))).toBe(sum(ours.map((row) => row.promptTokens)));
    expect(sum(theirs.map((row) => row.completionTokens))).toBe(sum(ours.map((row) => row.completionTokens)));
    const { counts, total, assigned } = reconcile({
      gatewayRows: theirs,
      spendRows: ours,
      conversations: [
        {
          conversationId: SESSION_ID as never,
          key: null,
          tags: {},
          attemptIds: [],
        },
      ],
      isForwarding: false,
      windowBeforeMs: 0,
      windowAfterMs: 0,
      ambiguous: 'keep',
    });
    expect(counts).toMatchObject({ byResponseId: ours.length, unassigned: 0, unbilled: 0 });
    // Its amounts are floating point: each of ours is exact, and theirs rounds to it.
    expect([total, assigned]).toEqual([sum(ours.map((row) => row.cost)), total]);
  });
});

async function streamed(
  response: Response,
): Promise<{ readonly chunks: readonly Chunk[]; readonly isDone: boolean }> {
  const frames = (await response.text())
    .split('\n\n')
    .filter(Boolean)
    .map((frame) => frame.replace(/^data: /, ''));
  const chunks = frames.filter((frame) => frame !== '[DONE]').map((frame) => JSON.parse(frame) as Chunk);
  return { chunks, isDone: frames.at(-1) === '[DONE]' };
}
