/** Events as they come, over both transports: in order, resumable, and for their owner only. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { agentEvent } from '../activities/fake-agent.ts';
import { conversationId } from '../../core/ids.ts';
import { openService, startReady, type Service } from './service.ts';

const streamOf = (service: Service, id: string, query = ''): string =>
  `${service.server.url}/api/v1/conversation/${id}/events/stream${query}`;

function append(service: Service, id: string, ...names: string[]): Promise<number> {
  return service.store.events.append(
    conversationId(id),
    names.map((name) => agentEvent(name)),
    Date.now(),
  );
}

/** Reads frames of server-sent events until there are as many as asked for. */
async function frames(service: Service, url: string, count: number, headers = {}): Promise<string[]> {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${service.ada}`, ...headers },
    signal: ending.signal,
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const found = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('id: ') || frame.startsWith('event: '));
    if (found.length >= count) return found;
  }
  return text.split('\n\n').filter((frame) => frame.startsWith('id: ') || frame.startsWith('event: '));
}

describe('server-sent events', () => {
  it('tell the history, then what comes, and go on behind a number or the last id', async () => {
    const service = await openService();
    const { id } = await startReady(service);
    await append(service, id, 'a', 'b');
    const reading = frames(service, streamOf(service, id), 3);
    await append(service, id, 'c');
    const told = await reading;
    expect(told.map((frame) => frame.split('\n')[0])).toEqual(['id: 1', 'id: 2', 'id: 3']);
    expect(told[2]).toContain('"id":"c"');
    expect((await frames(service, streamOf(service, id, '?after_seq=2'), 1))[0]).toContain('id: 3');
    const resumed = await frames(service, streamOf(service, id), 1, { 'last-event-id': '1' });
    expect(resumed[0]).toContain('id: 2');
  });

  it('end with the conversation', async () => {
    const service = await openService();
    const { id } = await startReady(service);
    const reading = frames(service, streamOf(service, id), 1);
    await service.call({ method: 'DELETE', path: `/api/v1/app-conversations/${id}` });
    expect(await reading).toEqual(['event: deleted\ndata: {}']);
  });

  it('are refused to others, without a key, and for a number that is none', async () => {
    const service = await openService();
    const { id } = await startReady(service);
    const path = `/api/v1/conversation/${id}/events/stream`;
    const statuses = [
      (await service.call({ path, key: service.ben })).status,
      (await service.call({ path, key: null })).status,
      (await service.call({ path: `${path}?after_seq=x` })).status,
    ];
    expect(statuses).toEqual([404, 401, 422]);
  });
});

describe('a WebSocket', () => {
  it('tells frames with their numbers, behind `after_seq`, and closes when the conversation is deleted', async () => {
    const service = await openService();
    const { id } = await startReady(service);
    await append(service, id, 'a', 'b');
    const socket = new WebSocket(streamOf(service, id, '?after_seq=1').replace('http', 'ws'), {
      headers: { authorization: `Bearer ${service.ada}` },
    });
    onTestFinished(() => socket.terminate());
    const told: { seq: number; event: { id: string } }[] = [];
    const two = new Promise<void>((resolve) =>
      socket.on('message', (data: Buffer) => {
        told.push(JSON.parse(data.toString('utf8')) as (typeof told)[number]);
        if (told.length === 2) resolve();
      }),
    );
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    await append(service, id, 'c');
    await two;
    expect(told.map(({ seq, event }) => [seq, event.id])).toEqual([
      [2, 'b'],
      [3, 'c'],
    ]);
    await service.call({ method: 'DELETE', path: `/api/v1/app-conversations/${id}` });
    expect(await closed).toBe(4_004);
  });

  it.each(['someone else', 'nobody'])('is refused to %s', async (who) => {
    const service = await openService();
    const { id } = await startReady(service);
    const headers = who === 'nobody' ? {} : { authorization: `Bearer ${service.ben}` };
    const socket = new WebSocket(streamOf(service, id).replace('http', 'ws'), { headers });
    const message = await new Promise<string>((resolve) =>
      socket.once('error', (error) => resolve(error.message)),
    );
    expect(message).toContain(who === 'nobody' ? '401' : '404');
  });
});
