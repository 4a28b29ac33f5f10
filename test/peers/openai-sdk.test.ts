/**
 * The OpenAI SDK for Node in front of our proxy, unmodified: replies, streams, and failures as its own classes.
 */
import OpenAI, * as sdk from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOrFail, failingEntries } from './failing-vendor.ts';
import { AGENT_KEY, openProxy, SESSION_ID, type OpenProxy } from './open-proxy.ts';
import { openStubVendor, type StubVendor } from './stub-vendor.ts';

describe('the OpenAI SDK for Node in front of the proxy', () => {
  let vendor: StubVendor;
  let proxy: OpenProxy;
  let client: OpenAI;
  beforeAll(async () => {
    vendor = await openStubVendor();
    vendor.answer = answerOrFail;
    proxy = await openProxy({ vendor: 'litellm', forwards: true, entries: failingEntries(vendor.origin) });
    client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: AGENT_KEY, maxRetries: 0 });
  });
  afterAll(async () => {
    await proxy.close();
    await vendor.close();
  });

  const ask = { model: 'coder', messages: [{ role: 'user', content: 'hello' }], user: 'ada' } as const;
  const chat = { ...ask, messages: [...ask.messages] };

  it('gets a completion with its usage', async () => {
    const reply = await client.chat.completions.create(chat);
    expect(reply.choices[0]?.message.content).toBe('héllo');
    expect(reply.usage).toMatchObject({ prompt_tokens: 2011, completion_tokens: 61 });
  });

  it('gets tool calls', async () => {
    const tools = [{ type: 'function', function: { name: 'terminal', parameters: {} } }] as const;
    const reply = await client.chat.completions.create({ ...chat, tools: [...tools] });
    expect(reply.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { arguments: '{"command":"ls"}' },
    });
  });

  it('reads a stream to its end', async () => {
    const texts: string[] = [];
    const stream = await client.chat.completions.create({ ...chat, stream: true });
    for await (const chunk of stream) texts.push(chunk.choices[0]?.delta.content ?? '');
    expect(texts.join('')).toBe('héllo');
  });

  it('G29: discovers the models', async () => {
    const names: string[] = [];
    for await (const model of client.models.list()) names.push(model.id);
    expect(names).toEqual(['coder', 'fails-400', 'fails-404', 'fails-429', 'fails-500']);
  });

  it.each([
    ['nobody', sdk.NotFoundError],
    ['fails-400', sdk.BadRequestError],
    ['fails-404', sdk.NotFoundError],
    ['fails-429', sdk.RateLimitError],
    ['fails-500', sdk.InternalServerError],
  ] as const)('tells a failure of "%s" by its own class', async (model, type) => {
    const failure = await client.chat.completions.create({ ...chat, model }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(type);
  });

  it('tells a wrong key by its own class', async () => {
    const stranger = client.withOptions({ apiKey: 'sk-wrong' });
    await expect(stranger.chat.completions.create(chat)).rejects.toBeInstanceOf(sdk.AuthenticationError);
  });

  it('G19: its calls are recorded with the user, and none of its own headers reaches the gateway', async () => {
    vendor.seen.length = 0;
    await client.chat.completions.create(chat);
    const headers = Object.keys(vendor.seen[0]?.headers ?? {});
    expect(headers.filter((name) => name.startsWith('x-'))).toEqual(['x-litellm-session-id']);
    expect(vendor.seen[0]?.body).not.toContain('ada');
    expect((await proxy.rows()).at(-1)).toMatchObject({ user: 'ada', sessionId: SESSION_ID });
  });
});
