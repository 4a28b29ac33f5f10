/** WebSockets of a conversation: who is let in, what comes first, what is sent again, and messages over them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

import { CONVERSATION_ID, Harness, SESSION_KEY, userMessage, PATIENT } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

type Frame = Readonly<Record<string, unknown>> & { readonly kind: string };

interface Listener {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  readonly closed: Promise<number>;
}

function listen(
  harness: Harness,
  given: {
    readonly path?: string;
    readonly headers?: Record<string, string>;
    readonly first?: string | null;
  } = {},
): Listener {
  const { path = `/sockets/events/${CONVERSATION_ID}`, headers = {}, first = auth(SESSION_KEY) } = given;
  const socket = new WebSocket(`ws+unix://${harness.socketPath}:${path}`, { headers });
  onTestFinished(() => socket.terminate());
  const frames: Frame[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString('utf8')) as Frame));
  socket.on('open', () => first !== null && socket.send(first));
  const closed = new Promise<number>((resolve) => {
    socket.on('close', resolve);
    socket.on('error', (error) => resolve(Number(/\d{3}/.exec(error.message)?.[0] ?? -1)));
  });
  return { socket, frames, closed };
}

function auth(key: string): string {
  return JSON.stringify({ type: 'auth', session_api_key: key });
}

async function started(): Promise<Harness> {
  const harness = await Harness.start();
  harness.llm.script([toolCalls(['think', { thought: 'hm' }]), toolCalls(['finish', { message: 'done' }])]);
  await harness.call('POST /api/conversations', {
    json: harness.startBody({ secrets: { TOKEN: 'socket-secret-value' } }),
  });
  return harness;
}

const has = (frames: readonly Frame[], key: string, value?: unknown): boolean =>
  frames.some((frame) => frame['key'] === key && (value === undefined || frame['value'] === value));

describe('the WebSocket of a conversation', () => {
  it('pushes the whole state first, every event in order, and the whole state behind a run', async () => {
    const harness = await started();
    const { frames } = listen(harness);
    await expect.poll(() => frames.length, PATIENT).toBe(1);
    expect(frames[0]).toMatchObject({ key: 'full_state', value: { execution_status: 'idle' } });
    await harness.at('POST /events', userMessage('say socket-secret-value', true));
    await harness.reaches('finished');
    // One at the beginning, one at the end of the run, and that one again for who listens a moment later.
    await expect.poll(() => frames.filter(({ key }) => key === 'full_state').length, PATIENT).toBe(3);
    expect(frames.at(-1)).toMatchObject({ key: 'full_state', value: { execution_status: 'finished' } });
    const told = frames.filter(({ key }) => key !== 'full_state').map(({ id }) => id);
    const logged = (await harness.events()).map(({ id }) => id);
    expect(told).toEqual(logged.slice(-told.length));
    expect(JSON.stringify(frames)).not.toContain('socket-secret-value');
    expect(frames.flatMap((frame) => Object.values(frame)).includes(null)).toBe(false);
  });

  it.each([
    ['a wrong frame', { first: auth('wrong') }, 4001],
    ['a first frame that is no key', { first: '{"role":"user"}' }, 4001],
    ['a wrong header', { headers: { 'x-session-api-key': 'wrong' } }, 403],
    [
      'a key in the address',
      { path: `/sockets/events/${CONVERSATION_ID}?session_api_key=${SESSION_KEY}` },
      403,
    ],
    ['an unknown conversation', { path: '/sockets/events/0b1f0a5e-2f51-4f39-9f35-1c0f0e8f1a99' }, 4004],
    ['another path', { path: '/sockets/others' }, 404],
  ])('refuses %s', async (_what, given, code) => {
    const harness = await started();
    expect(await listen(harness, given).closed).toBe(code);
  });

  it('takes the key in a header, and a second one in a frame changes nothing', async () => {
    const harness = await started();
    const { frames } = listen(harness, { headers: { 'x-session-api-key': SESSION_KEY } });
    await expect.poll(() => frames.length, PATIENT).toBe(1);
  });

  it('sends everything again, or what came since an instant', async () => {
    const harness = await started();
    await harness.at('POST /events', userMessage('go', true));
    await harness.reaches('finished');
    const events = await harness.events();
    const path = `/sockets/events/${CONVERSATION_ID}`;
    const all = listen(harness, { path: `${path}?resend_mode=all` });
    const from = events[4]?.timestamp ?? '';
    const since = listen(harness, { path: `${path}?resend_mode=since&after_timestamp=${from}Z` });
    await expect.poll(() => all.frames.length, PATIENT).toBe(events.length + 1);
    await expect.poll(() => since.frames.length, PATIENT).toBe(events.length - 4 + 1);
    expect(all.frames.slice(1).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect(since.frames[1]?.['id']).toBe(events[4]?.id);
  });

  it('takes messages, always runs them, and tells what it cannot take', async () => {
    const harness = await started();
    const { socket, frames } = listen(harness);
    await expect.poll(() => frames.length, PATIENT).toBe(1);
    for (const bad of ['nonsense', '{"role":"user"}']) socket.send(bad);
    await expect.poll(() => frames.filter(({ kind }) => kind === 'ServerErrorEvent').length, PATIENT).toBe(2);
    socket.send(JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'go' }] }));
    await expect.poll(() => has(frames, 'execution_status', 'finished'), PATIENT).toBe(true);
    expect(await harness.eventsOf('ServerErrorEvent')).toEqual([]);
  });

  it('ends its sockets when the server stops', async () => {
    const harness = await started();
    const { frames, closed } = listen(harness);
    await expect.poll(() => frames.length, PATIENT).toBe(1);
    await harness.stop();
    expect(await closed).toBe(1001);
  });

  it('needs no key where the server has none', async () => {
    const harness = await Harness.start({ sessionKey: null });
    harness.llm.script([reply('hello')]);
    await harness.run('go');
    const { frames } = listen(harness, { first: null });
    await expect.poll(() => frames[0]?.['key'], PATIENT).toBe('full_state');
  });

  it('answers in HTTP/1.1 whoever offers another protocol, and goes on whatever is asked', async () => {
    const harness = await started();
    for (const upgrade of ['h2c', 'TLS/1.0']) {
      const headers = {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade,
        'http2-settings': 'AAEAAEAAAAIAAAAA',
      };
      const read = await harness.call('GET /api/conversations/count', { headers });
      expect([read.status, read.body]).toEqual([200, 1]);
      const sent = await harness.call(`POST /api/conversations/${CONVERSATION_ID}/events`, {
        headers,
        json: userMessage('hello', false),
      });
      expect(sent.status).toBe(200);
    }
    for (const path of ['//', '/%', 'http://[', `/sockets/events/${CONVERSATION_ID}/x`, '*']) {
      const socket = connect(harness.socketPath);
      let text = '';
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`);
      await once(socket, 'close');
      expect([path, text.split(' ')[1]]).toEqual([path, expect.stringMatching(/^4\d\d$/)]);
    }
    expect((await harness.call('GET /health')).status).toBe(200);
  });
});
