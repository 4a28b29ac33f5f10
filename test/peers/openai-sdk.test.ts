/**
 * The OpenAI SDK for Node in front of our proxy, unmodified: replies, streams, and failures as its own classes.
 */
import { gzipSync } from 'node:zlib';
import OpenAI, * as sdk from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerJson } from '../proxy/stub-gateway.ts';
import { answerOrFail, failingEntries } from './failing-vendor.ts';
import { AGENT_KEY, openProxy, SESSION_ID, type OpenProxy } from './open-proxy.ts';
import { CHAT_REPLY, openStubVendor, type StubVendor } from './stub-vendor.ts';

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
    expect(names).toEqual(failingEntries('').map(({ name }) => name));
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

  describe('behind which a gateway goes wrong', () => {
    const limited = '{"error":{"message":"slow down","code":"rate_limit_exceeded"}}';
    const frame =
      'data: {"id":"r","choices":[{"index":0,"delta":{"content":"hé"},"finish_reason":null}]}\n\n';
    const streamed = async (): Promise<string> => {
      let text = '';
      const stream = await client.chat.completions.create({ ...chat, stream: true });
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      return text;
    };
    afterAll(() => {
      vendor.answer = answerOrFail;
    });

    it('tells an error in a 200, or at the start of a stream, by its own class', async () => {
      vendor.answer = answerJson(200, limited);
      await expect(client.chat.completions.create(chat)).rejects.toBeInstanceOf(sdk.RateLimitError);
      vendor.answer = answerJson(200, `: waiting\n\ndata: ${limited}\n\n`, {
        'content-type': 'text/event-stream',
      });
      await expect(streamed()).rejects.toBeInstanceOf(sdk.RateLimitError);
      vendor.answer = answerJson(200, '<html>Sign in</html>', { 'content-type': 'text/html' });
      await expect(client.chat.completions.create(chat)).rejects.toBeInstanceOf(sdk.InternalServerError);
    });

    it('tells that a stream broke off, or failed in the middle', async () => {
      const events = { 'content-type': 'text/event-stream' };
      for (const frames of [
        frame,
        `${frame}data: {"choices":[],"usage":{"prompt_tokens":1},${limited.slice(1)}\n\n`,
      ]) {
        vendor.answer = answerJson(200, frames, events);
        await expect(streamed()).rejects.toBeInstanceOf(sdk.APIError);
      }
      vendor.answer = answerJson(200, `${frame}data: [DONE]\n\n`.replaceAll('\n', '\r'), events);
      expect(await streamed()).toBe('hé');
    });

    it('reads what is coded although nobody asked, and events that are called JSON', async () => {
      vendor.answer = (res) => {
        res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        res.end(gzipSync(JSON.stringify({ ...CHAT_REPLY, id: 'r', model: 'm' })));
      };
      expect((await client.chat.completions.create(chat)).choices[0]?.message.content).toBe('héllo');
      vendor.answer = answerJson(200, `${frame}data: [DONE]\n\n`);
      expect(await streamed()).toBe('hé');
      const states = (await proxy.rows()).slice(-2).map(({ state }) => state);
      expect(states).toEqual(['succeeded', 'succeeded']);
    });
  });
});
