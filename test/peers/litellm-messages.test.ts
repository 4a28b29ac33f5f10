/**
 * Messages through our proxy and LiteLLM behind it to a vendor of messages: Anthropic's SDK in front, unmodified.
 * What comes back is the vendor's, and both accounts say the same, cached tokens included.
 */
import Anthropic, * as sdk from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { answerOrFail } from './failing-vendor.ts';
import { startLitellm, type Litellm } from './litellm.ts';
import { THOUGHT, TOOL } from './message-vendor.ts';
import { AGENT_KEY, openProxy, SESSION_ID, type OpenProxy } from './open-proxy.ts';
import { openStubVendor, type StubVendor } from './stub-vendor.ts';

const TEAM_KEY = 'sk-litellm-team-red';
const START_MS_MAX = 600_000;
const PRICES = {
  input_cost_per_token: 0.000003,
  output_cost_per_token: 0.000015,
  cache_read_input_token_cost: 0.0000003,
  cache_creation_input_token_cost: 0.00000375,
};
const COST_NANO_USD = 20 * 3_000 + 10 * 3_750 + 50 * 300 + 5 * 15_000;
const ASK = {
  model: 'claude',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'hello' }],
};

describeWith('litellm', 'messages with LiteLLM behind our proxy', () => {
  let vendor: StubVendor;
  let litellm: Litellm;
  let proxy: OpenProxy;
  let client: Anthropic;
  beforeAll(async () => {
    vendor = await openStubVendor();
    vendor.answer = answerOrFail;
    const there = { api_base: vendor.origin, api_key: 'sk-vendor-key', ...PRICES };
    litellm = await startLitellm({
      keys: { [TEAM_KEY]: { alias: 'red-key', team: 'red' } },
      models: ['claude', 'fails-429'].map((name) => ({
        name,
        params: { ...there, model: `anthropic/${name}` },
      })),
    });
    const texts = Object.entries(PRICES).map(([name, price]) => [name, price.toFixed(10)] as const);
    const own = { api_base: litellm.origin, api_key: TEAM_KEY, ...Object.fromEntries(texts) };
    proxy = await openProxy({
      vendor: 'litellm',
      forwards: true,
      entries: ['claude', 'fails-429'].map((name) => ({
        name,
        params: { ...own, model: `litellm_proxy/${name}` },
      })),
    });
    client = new Anthropic({ baseURL: proxy.url, apiKey: AGENT_KEY, maxRetries: 0 });
  }, START_MS_MAX);
  afterAll(async () => {
    await proxy?.close();
    await litellm?.stop();
    await vendor?.close();
  });

  it('come back, plain and as events, and cost the same on both sides', async () => {
    const plain = await client.messages.create(ASK);
    const streamed = await client.messages.stream(ASK).finalMessage();
    for (const message of [plain, streamed]) {
      expect(message.content).toMatchObject([THOUGHT, TOOL]);
      expect(message.usage).toMatchObject({
        input_tokens: 20,
        cache_read_input_tokens: 50,
        output_tokens: 5,
      });
    }
    const ours = await proxy.rows();
    expect(ours).toMatchObject(
      [false, true].map((isStream) => ({
        ...{ state: 'succeeded', route: '/v1/messages', streamed: isStream, sessionId: SESSION_ID },
        ...{ promptTokens: 80, completionTokens: 5, cost: COST_NANO_USD },
      })),
    );
    const theirs = await litellm.rows(2);
    expect(theirs.map(({ spend }) => Math.round(spend * 1e9))).toEqual([COST_NANO_USD, COST_NANO_USD]);
  });

  it('fail as the vendor says', async () => {
    await expect(client.messages.create({ ...ASK, model: 'fails-429' })).rejects.toBeInstanceOf(
      sdk.RateLimitError,
    );
  });
});
