/** What the webhook endpoint receives, in which order, and what happens when it does not listen. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import type { WebhookConfig } from '../../agent/config.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { CONVERSATION_ID, Harness, SESSION_KEY } from './harness.ts';
import type { EventView } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

interface Receiver {
  readonly config: WebhookConfig;
  readonly infos: Record<string, unknown>[];
  readonly events: EventView[];
  readonly batchSizes: number[];
  readonly keys: unknown[];
  /** Status of the next answers, while there are any. */
  readonly failures: number[];
}

/** A webhook endpoint on a unix socket. */
async function startReceiver(changes: Partial<WebhookConfig> = {}): Promise<Receiver> {
  const socketPath = join(tempDir(), 'hooks.sock');
  const receiver: Receiver = {
    config: {
      baseUrl: `unix:${socketPath}:/api/v1/webhooks`,
      bufferSize: 5,
      flushDelayMs: 50,
      retriesMax: 3,
      retryDelayMs: 10,
      ...changes,
    },
    infos: [],
    events: [],
    batchSizes: [],
    keys: [],
    failures: [],
  };
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const failure = receiver.failures.shift();
      if (failure === undefined)
        take(receiver, request.url ?? '', JSON.parse(Buffer.concat(chunks).toString()));
      receiver.keys.push(request.headers['x-session-api-key']);
      response.writeHead(failure ?? 200).end('{"success":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return receiver;
}

function take(receiver: Receiver, url: string, body: unknown): void {
  if (url === '/api/v1/webhooks/conversations') {
    receiver.infos.push(body as Record<string, unknown>);
  } else {
    expect(url).toBe(`/api/v1/webhooks/events/${CONVERSATION_ID.replaceAll('-', '')}`);
    receiver.events.push(...(body as EventView[]));
    receiver.batchSizes.push((body as EventView[]).length);
  }
}

function statuses(receiver: Receiver): unknown[] {
  return receiver.infos.map((info) => info['execution_status']);
}

describe('webhooks', () => {
  it('tell every status and every event once and in order', async () => {
    const receiver = await startReceiver();
    const harness = await Harness.start({ webhook: receiver.config });
    harness.llm.script([toolCalls(['think', { thought: 'x' }]), reply('end')]);
    await harness.run('go');
    await harness.reaches('finished');
    await expect.poll(() => statuses(receiver)).toEqual(['idle', 'running', 'finished']);
    const stored = await harness.events();
    expect(receiver.events.map((event) => event.id)).toEqual(stored.map((event) => event.id));
    expect(new Set(receiver.keys)).toEqual(new Set([SESSION_KEY]));

    await harness.at('PATCH ', { title: 'New' });
    await expect.poll(() => receiver.infos.at(-1)?.['title']).toBe('New');
    await harness.at('DELETE ');
    await expect.poll(() => statuses(receiver).at(-1)).toBe('deleting');
  });

  it('are tried again after failures, without loss and in order', async () => {
    const receiver = await startReceiver({ retriesMax: 1 });
    receiver.failures.push(500, 503, 500, 429, 500, 500, 500);
    const harness = await Harness.start({ webhook: receiver.config });
    harness.llm.script([toolCalls(['think', { thought: 'x' }]), reply('end')]);
    await harness.run('go');
    await harness.reaches('finished');
    await expect.poll(() => statuses(receiver).at(-1), { timeout: 60_000 }).toBe('finished');
    const stored = await harness.events();
    expect(receiver.events.map((event) => event.id)).toEqual(stored.map((event) => event.id));
  });

  it('send a full batch at once and the rest after the delay', async () => {
    const receiver = await startReceiver({ bufferSize: 2, flushDelayMs: 100 });
    const harness = await Harness.start({ webhook: receiver.config });
    await harness.call('POST /api/conversations', { json: harness.startBody() });
    await expect.poll(() => receiver.batchSizes).toEqual([1]);
    await harness.at('POST /events', { content: 'hello' });
    await expect.poll(() => receiver.events.length).toBe(3);
    expect(receiver.events[1]).toMatchObject({ kind: 'MessageEvent', llm_response_id: null });
  });

  it('leave when the server stops', async () => {
    const receiver = await startReceiver({ bufferSize: 100, flushDelayMs: 60_000 });
    const harness = await Harness.start({ webhook: receiver.config });
    harness.llm.script([() => new Promise(() => undefined)]);
    await harness.run('go');
    await expect.poll(() => harness.llm.requests.length).toBe(1);
    await harness.stop();
    expect(statuses(receiver).at(-1)).toBe('error');
    expect(receiver.events.at(-1)).toMatchObject({ key: 'execution_status', value: 'error' });
  });
});
