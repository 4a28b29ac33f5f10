/** Partial events, from an Agent Server to clients that request them: known fields, within bounds, waking nothing. */
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createClient } from '../../api/client/client.ts';
import { conversationId } from '../../core/ids.ts';
import { agentEvent } from '../activities/fake-agent.ts';
import { eventually, openService, startReady, type Service } from './service.ts';

interface World {
  readonly service: Service;
  readonly id: string;
  /** Handshakes, in order. */
  readonly asked: IncomingMessage[];
  readonly sockets: Set<WebSocket>;
  say(frame: unknown): void;
}

const SECRET = 'api-partial-5511';

async function open(body: object = {}): Promise<World> {
  const server = createServer();
  const asked: IncomingMessage[] = [];
  const listeners = new WebSocketServer({ server });
  const sockets = new Set<WebSocket>();
  listeners.on('connection', (socket, request) => {
    asked.push(request);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    listeners.close();
    for (const socket of sockets) socket.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const relay = { connect: () => Promise.resolve(connect(port, '127.0.0.1')) };
  const service = await openService({ relay });
  const { id } = await startReady(service, body);
  return {
    ...{ service, id, asked, sockets },
    say(frame) {
      const text = typeof frame === 'string' ? frame : JSON.stringify(frame);
      for (const socket of sockets) socket.send(text);
    },
  };
}

const words = (content: unknown, more: object = {}): object => ({
  ...{ id: 'x', source: 'agent', kind: 'StreamingDeltaEvent', content, llm_response_id: 'r-1' },
  ...more,
});

/** Follows with the API client, and keeps what it receives. */
function watch({ service, id }: World) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const client = createClient({ url: service.server.url, key: service.ada });
  const heard: unknown[] = [];
  const events: string[] = [];
  const ended = (async () => {
    const options = { signal: leaving.signal, onPartial: (one: unknown) => void heard.push(one) };
    for await (const { seq, event } of client.events(id, options)) events.push(`${seq} ${event.id}`);
  })().catch(() => undefined);
  return { heard, events, leave: () => (leaving.abort(), ended) };
}

describe('partial events', () => {
  it('come to who asks for them between the events, over one connection that ends with the last', async () => {
    const world = await open();
    const [first, second] = [watch(world), watch(world)];
    await eventually(
      () => Promise.resolve(world.sockets.size),
      (size) => size === 1,
    );
    const { url = '', headers } = world.asked[0] ?? {};
    expect(url).toBe(`/sockets/events/${world.id.replaceAll('-', '')}?partials=only`);
    expect(headers?.['x-session-api-key']).toBeTypeOf('string');
    world.say(words('Hel', { evil: '<script>' }));
    const output = { kind: 'StreamingOutputEvent', tool_name: 'terminal', tool_call_id: 'c', action_id: 'a' };
    world.say({ ...output, content: '\u001b[31m</pre>\n\nevent: deleted\ndata: {}\n\n' });
    await world.service.store.events.append(conversationId(world.id), [agentEvent('said')], Date.now());
    await eventually(
      () => Promise.resolve(second.events),
      (events) => events.length === 1,
    );
    for (const { heard, events } of [first, second]) {
      expect(heard).toEqual([
        { kind: 'StreamingDeltaEvent', content: 'Hel', llm_response_id: 'r-1' },
        { ...output, content: '\u001b[31m</pre>\n\nevent: deleted\ndata: {}\n\n' },
      ]);
      expect(events).toEqual(['1 said']);
    }
    await first.leave();
    world.say(words('lo'));
    await eventually(
      () => Promise.resolve(second.heard.length),
      (length) => length === 3,
    );
    await second.leave();
    await eventually(
      () => Promise.resolve(world.sockets.size),
      (size) => size === 0,
    );
    expect(world.asked).toHaveLength(1);
    expect(first.heard).toHaveLength(2);
  });

  it('pass nothing that is not one, and no more than a bound, and come back after a broken connection', async () => {
    const world = await open();
    const { heard, events } = watch(world);
    const connected = (): Promise<unknown> =>
      eventually(
        () => Promise.resolve(world.sockets.size),
        (size) => size === 1,
      );
    await connected();
    for (const bad of [
      'no JSON "Streaming',
      '"StreamingDeltaEvent"',
      words(5),
      words('x', { kind: 'StreamingOutputEvent' }),
      { kind: 'MessageEvent', source: 'agent', llm_message: { content: 'StreamingDeltaEvent' } },
      words('x'.repeat(70_000)),
      words('x', { llm_response_id: 'y'.repeat(300) }),
    ])
      world.say(bad);
    world.say(words('good'));
    await eventually(
      () => Promise.resolve(heard.length),
      (length) => length === 1,
    );
    for (let at = 0; at < 200; at += 1) world.say(words('z'.repeat(10_000)));
    for (const socket of world.sockets) socket.terminate();
    await connected();
    await eventually(
      () => {
        world.say(words('back'));
        return Promise.resolve(JSON.stringify(heard.at(-1)));
      },
      (last) => last.includes('back'),
    );
    expect(heard.length).toBeGreaterThan(2);
    expect(JSON.stringify(heard).length).toBeLessThan(400_000);
    expect(events).toEqual([]);
  });

  it('are told to nobody who does not ask, and to no stranger; over a WebSocket as frames of their own', async () => {
    const world = await open();
    const { service, id } = world;
    const path = `/api/v1/conversation/${id}/events/stream`;
    const stranger = await service.call({ path: `${path}?partials=true`, key: service.ben });
    expect(stranger.status).toBe(404);
    const open_ = async (query: string): Promise<unknown[]> => {
      const socket = new WebSocket(`${service.server.url.replace('http', 'ws')}${path}${query}`, {
        headers: { authorization: `Bearer ${service.ada}` },
      });
      onTestFinished(() => socket.terminate());
      const frames: unknown[] = [];
      socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString())));
      await new Promise((resolve) => socket.once('open', resolve));
      return frames;
    };
    const without = await open_('');
    expect(world.asked).toEqual([]);
    const asking = await open_('?partials=true');
    await eventually(
      () => Promise.resolve(world.sockets.size),
      (size) => size === 1,
    );
    world.say(words('Hi'));
    await eventually(
      () => Promise.resolve(asking.length),
      (length) => length === 1,
    );
    expect(asking).toEqual([
      { partial: { kind: 'StreamingDeltaEvent', content: 'Hi', llm_response_id: 'r-1' } },
    ]);
    expect(without).toEqual([]);
  });

  it('say no secret of the conversation that an agent does not mask, in whatever pieces it says it', async () => {
    const world = await open({ secrets: { TOKEN: SECRET } });
    const { heard } = watch(world);
    await eventually(
      () => Promise.resolve(world.sockets.size),
      (size) => size === 1,
    );
    for (const letter of `It is ${SECRET}, see ${SECRET.slice(0, 7)}!`) world.say(words(letter));
    const said = (): Promise<string> =>
      Promise.resolve(heard.map((one) => (one as { content: string }).content).join(''));
    expect(await eventually(said, (text) => text.endsWith('!'))).toBe(
      `It is <secret-hidden>, see ${SECRET.slice(0, 7)}!`,
    );
  });

  it('wake no sandbox that is paused', async () => {
    const world = await open();
    const [row] = (await world.service.call({ path: `/api/v1/app-conversations?ids=${world.id}` })).body;
    await world.service.call({ method: 'POST', path: `/api/v1/sandboxes/${row.sandbox_id}/pause` });
    await eventually(
      async () =>
        (await world.service.call({ path: `/api/v1/sandboxes?id=${row.sandbox_id}` })).body[0].status,
      (status) => status === 'PAUSED',
    );
    watch(world);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(world.asked).toEqual([]);
  });
});
