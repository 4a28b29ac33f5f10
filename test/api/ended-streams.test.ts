/** SIGTERM while streams are open: clients that follow do not delay the end. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { tempDir } from '../helpers/temp-dir.ts';
import { callServed, serve, type Served } from './served.ts';
import { eventually } from './service.ts';

const APP = '/api/v1/app-conversations';
const ALL_MS_MAX = 600_000;

async function started(served: Served, key: string): Promise<{ id: string; sandboxId: string }> {
  const { body } = await callServed(served, key, { method: 'POST', path: APP, body: {} });
  const ready = await eventually(
    async () => (await callServed(served, key, { path: `${APP}/start-tasks?ids=${body.id}` })).body[0],
    ({ status }) => status === 'READY',
  );
  return { id: ready.app_conversation_id, sandboxId: ready.sandbox_id };
}

it(
  'ends in a second with streams of events, of starts and of agents open, over HTTP and WebSockets',
  async () => {
    const served = await serve(tempDir());
    const key = served.key ?? '';
    const { id, sandboxId } = await started(served, key);
    const headers = { authorization: `Bearer ${key}` };
    const path = `/api/v1/conversation/${id}/events/stream`;
    const sockets = Array.from(
      { length: 3 },
      () => new WebSocket(`${served.url.replace('http', 'ws')}${path}`, { headers }),
    );
    const [row] = (await callServed(served, key, { path: `${APP}?ids=${id}` })).body;
    const agent = `/sandboxes/${sandboxId}/agent/sockets/events/${id}`;
    const ofAgent = { headers: { 'x-session-api-key': row.session_api_key as string } };
    sockets.push(new WebSocket(`${served.url.replace('http', 'ws')}${agent}`, ofAgent));
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    for (const socket of sockets) socket.on('error', () => undefined);
    const streams = Array.from({ length: 3 }, () => request(`${served.url}${path}`, { headers }));
    const answers = streams.map((stream) => once(stream, 'response') as Promise<[IncomingMessage]>);
    for (const stream of streams) stream.on('error', () => undefined).end();
    for (const [answer] of await Promise.all(answers)) answer.on('error', () => undefined).resume();
    const asked = performance.now();
    expect(await served.end('SIGTERM'), served.notices()).toBe(0);
    expect(performance.now() - asked).toBeLessThan(1_000);
  },
  ALL_MS_MAX,
);
