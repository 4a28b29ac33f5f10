/** The typed client against the real service: shapes, keys of repeats, retries, and a stream over broken connections. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { ClientError, createClient, type Client } from '../../api/client/client.ts';
import { conversationId } from '../../core/ids.ts';
import { agentEvent } from '../activities/fake-agent.ts';
import { ROOT } from '../cli/parley-program.ts';
import { eventually, openService, startReady, type Service } from './service.ts';

async function connected(): Promise<{ readonly service: Service; readonly client: Client }> {
  const service = await openService();
  return { service, client: createClient({ url: `${service.server.url}/`, key: service.ada }) };
}

/** A server that answers in turn what it is given, and keeps what it was sent. */
async function scripted(answers: readonly ((response: ServerResponse) => void)[]) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answers[Math.min(seen.length, answers.length) - 1]?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => (server.closeAllConnections(), void server.close()));
  const { port } = server.address() as AddressInfo;
  return { seen, client: createClient({ url: `http://127.0.0.1:${port}`, key: 'k' }) };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

describe('operations', () => {
  it('are all there, typed by the routes', async () => {
    const { client, service } = await connected();
    // Besides them, the two streams: of a conversation, and of a run.
    expect(Object.keys(client)).toHaveLength(APPLICATION_ROUTES.length + 2);
    const task = await client.startAppConversation({ body: { title: 'Typed', tags: { team: 'blue' } } });
    const [ready] = await eventually(
      () => client.getStartTasks({ query: { ids: [task.id] } }),
      ([one]) => one?.status === 'READY',
    );
    const id: string = ready?.app_conversation_id ?? '';
    const page = await client.searchAppConversations({ query: { tag: 'team=blue', limit: 5 } });
    const titles: readonly string[] = page.items.map(({ title }) => title);
    expect([titles, page.items[0]?.id]).toEqual([['Typed'], id]);
    const changed = await client.updateAppConversation({
      params: { conversation_id: id },
      body: { tags: { team: 'red' } },
    });
    expect(changed.tags).toEqual({ team: 'red' });
    const zip = await client.downloadTrajectory({ params: { conversation_id: id } });
    expect(zip.headers.get('content-type')).toBe('application/zip');
    await zip.arrayBuffer();
    // @ts-expect-error -- no such tag: a value of another type does not compile
    const wrong = client.updateAppConversation({ params: { conversation_id: id }, body: { tags: { a: 1 } } });
    await expect(wrong).rejects.toMatchObject({ status: 422, code: 'invalid_request' });
    expect(service.lines.length).toBeGreaterThan(4);
  });

  it('throw what the server answers', async () => {
    const { client } = await connected();
    const asked = client.deleteAppConversation({ params: { conversation_id: '0'.repeat(32) } });
    await expect(asked).rejects.toBeInstanceOf(ClientError);
    await expect(asked).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  it('are done once under one key', async () => {
    const { client } = await connected();
    const once = () => client.startAppConversation({ body: {} }, { idempotencyKey: 'one' });
    const [first, second] = [await once(), await once()];
    expect(second.id).toBe(first.id);
    expect((await client.startAppConversation()).id).not.toBe(first.id);
  });
});

describe('retries', () => {
  it('wait as they are told, with the key of the first try', async () => {
    const full = json(429, { detail: 'full', code: 'rate_limited' }, { 'retry-after': '0' });
    const away = json(503, { detail: 'away', code: 'store_unavailable' }, { 'retry-after': '0' });
    const { seen, client } = await scripted([full, away, json(200, { id: 'x' })]);
    expect(await client.createSandbox()).toEqual({ id: 'x' });
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size, keys[0]]).toEqual([
      3,
      1,
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
  });

  it('end, and are not made where the answer is final or the wait is too long', async () => {
    const never = await scripted([json(503, { detail: 'away' }, { 'retry-after': '0' })]);
    await expect(never.client.isHealthy()).rejects.toMatchObject({ status: 503 });
    expect(never.seen).toHaveLength(5);
    for (const [status, headers] of [
      [409, {}],
      [429, { 'retry-after': '3600' }],
    ] as const) {
      const { seen, client } = await scripted([json(status, { detail: 'no' }, headers)]);
      await expect(client.createSandbox()).rejects.toMatchObject({ status });
      expect(seen).toHaveLength(1);
    }
  });

  it('of a change are not made when nobody knows whether it was done', async () => {
    const { seen, client } = await scripted([(response) => void response.socket?.destroy()]);
    await expect(client.createSandbox()).rejects.toBeInstanceOf(TypeError);
    expect(seen).toHaveLength(1);
  });
});

describe('events', () => {
  it('come once each and in order, from a number on, until the conversation is deleted', async () => {
    const { client, service } = await connected();
    const { id } = await startReady(service);
    const names = ['a', 'b', 'c', 'd'];
    const append = (name: string) =>
      service.store.events.append(conversationId(id), [agentEvent(name)], Date.now());
    await append('a');
    await append('b');
    const told: [number, string][] = [];
    for await (const { seq, event } of client.events(id, { afterSeq: 1 })) {
      told.push([seq, event.id]);
      const next = names[seq];
      if (next !== undefined) await append(next);
      else await client.deleteAppConversation({ params: { conversation_id: id } });
    }
    expect(told).toEqual([
      [2, 'b'],
      [3, 'c'],
      [4, 'd'],
    ]);
  });

  it('go on behind the last one when a connection breaks in the middle of one', async () => {
    const frame = (seq: number) => `id: ${seq}\nevent: event\ndata: {"id":"e${seq}","kind":"K"}\n\n`;
    const part = (text: string) => (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text, () => setTimeout(() => response.socket?.destroy(), 20));
    };
    const end = 'event: deleted\ndata: {}\n\n';
    const { seen, client } = await scripted([
      part(`:\n\n${frame(1)}${frame(2)}${frame(3).slice(0, 25)}`),
      part(`${frame(3)}${end}`),
    ]);
    const told: number[] = [];
    for await (const { seq } of client.events('c1')) told.push(seq);
    expect(told).toEqual([1, 2, 3]);
    expect(seen.map(({ url }) => url?.split('?')[1])).toEqual(['after_seq=0', 'after_seq=2']);
  });

  it('go on after an outage that is longer than any count of tries, whatever stands there meanwhile', async () => {
    const frame = (seq: number) => `id: ${seq}\nevent: event\ndata: {"id":"e${seq}","kind":"K"}\n\n`;
    const stream = (text: string) => (response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    const gone = (response: ServerResponse) => void response.socket?.destroy();
    const busy = json(429, {}, { 'retry-after': '0' });
    const bad = json(502, 'a page of a proxy', { 'retry-after': '0' });
    const outage = Array.from({ length: 24 }, (_, index) => [busy, bad, stream(':\n\n')][index % 3] ?? gone);
    const { client } = await scripted([
      ...[stream(frame(1)), gone, ...outage],
      stream(`${frame(2)}event: deleted\ndata: {}\n\n`),
    ]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const told: number[] = [];
    const broken: unknown[] = [];
    const reading = (async () => {
      for await (const { seq } of client.events('c1', { onBroken: (error) => void broken.push(error) }))
        told.push(seq);
    })();
    let isOver = false;
    void reading.then(() => (isOver = true));
    while (!isOver) {
      await vi.advanceTimersByTimeAsync(5_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(told).toEqual([1, 2]);
    expect(broken.length).toBe(26);
  });

  it('take a silent connection for broken, and a conversation that went meanwhile for deleted', async () => {
    const frame = 'id: 1\nevent: event\ndata: {"id":"e1","kind":"K"}\n\n';
    const silent = (response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame);
    const { seen, client } = await scripted([silent, json(404, { detail: 'no', code: 'not_found' })]);
    const told: number[] = [];
    for await (const { seq } of client.events('c1', { silenceMs: 30 })) told.push(seq);
    expect([told, seen.length]).toEqual([[1], 2]);
    const never = (await scripted([json(404, { detail: 'no', code: 'not_found' })])).client;
    await expect(never.events('c1').next()).rejects.toMatchObject({ status: 404 });
  });

  it('try again where a connection is taken and no answer begins, and say so', async () => {
    const frame = 'id: 1\nevent: event\ndata: {"id":"e1","kind":"K"}\n\nid: 2\nevent: deleted\ndata: {}\n\n';
    const never = (): void => undefined;
    const answer = (response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frame);
    const { seen, client } = await scripted([never, answer]);
    const broken: unknown[] = [];
    const told: number[] = [];
    const options = { silenceMs: 200, onBroken: (error: unknown) => void broken.push(error) };
    for await (const { seq } of client.events('c1', options)) told.push(seq);
    expect([told, seen.length]).toEqual([[1], 2]);
    expect(String(broken[0])).toContain('takes connections and does not answer');
  });

  it('end with a signal', async () => {
    const { client, service } = await connected();
    const { id } = await startReady(service);
    const ending = new AbortController();
    const reading = (async () => {
      for await (const { seq } of client.events(id, { signal: ending.signal })) expect(seq).toBe(0);
    })();
    ending.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  });
});

it('the example of the page runs as it stands', async () => {
  const page = readFileSync(path.join(ROOT, 'docs/api.md'), 'utf8');
  const text = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const body = text.replace("import { createClient } from 'parley/client';", '');
  expect(body).not.toBe(text);
  const service = await openService();
  const env = { PARLEY_URL: service.server.url, PARLEY_KEY: service.ada };
  const said: string[] = [];
  const run = new Function('createClient', 'process', 'console', `return (async () => {${body}})()`) as (
    ...parts: readonly unknown[]
  ) => Promise<void>;
  await run(createClient, { env }, { log: (line: string) => said.push(line) });
  expect(said).toEqual(expect.arrayContaining([expect.stringContaining('MessageEvent')]));
});
