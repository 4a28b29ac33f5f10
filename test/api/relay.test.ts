/** The Agent Server's own surface through the API: who is let through, what passes, and what stays behind. */
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { hyphenatedUuid } from '../../core/ids.ts';
import type { AgentRelay } from '../../ports/agent-relay.ts';
import { eventually, openService, startReady, type Service } from './service.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers every call with what it saw, and echoes frames. */
async function standIn(): Promise<{ readonly relay: AgentRelay; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(url.includes('missing') ? 404 : 200, {
        'content-type': url.includes('page') ? 'text/html' : 'application/json',
        'set-cookie': 'inside=1',
        'content-security-policy': 'default-src *',
        'service-worker-allowed': '/',
        'access-control-allow-origin': 'https://evil.example',
        location: '/console/',
        'clear-site-data': '"*"',
        'content-disposition': 'inline',
      });
      response.end(JSON.stringify({ url }));
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(`echo ${String(data)}`)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { seen, relay: { connect: () => Promise.resolve(connect(port, '127.0.0.1')) } };
}

async function open(): Promise<{
  readonly service: Service;
  readonly seen: Seen[];
  readonly id: string;
  readonly base: string;
  readonly key: string;
  readonly sandboxId: string;
}> {
  const { relay, seen } = await standIn();
  const service = await openService({ relay });
  const { id, sandboxId } = await startReady(service, { tags: { team: 'blue' } });
  const [row] = (await service.call({ path: `/api/v1/app-conversations?ids=${id}` })).body;
  expect(row.conversation_url).toBe(
    `${service.server.url}/sandboxes/${sandboxId}/agent/api/conversations/${id}`,
  );
  const base = `/sandboxes/${sandboxId}/agent`;
  return { service, seen, id, base, key: row.session_api_key as string, sandboxId };
}

describe('the relay', () => {
  it('passes calls with the session key on, byte for byte, and keeps API keys and cookies back', async () => {
    const { service, seen, base, key } = await open();
    const answer = await service.call({
      method: 'POST',
      path: `${base}/api/file/upload?path=%2Fa%20b`,
      body: '{"not":  "reformatted"}',
      headers: { 'x-session-api-key': key, cookie: 'ours=1' },
    });
    expect([answer.status, answer.body.url]).toEqual([200, '/api/file/upload?path=%2Fa%20b']);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(seen[0]).toMatchObject({ method: 'POST', body: '{"not":  "reformatted"}' });
    expect(seen[0]?.headers['x-session-api-key']).toBe(key);
    expect([seen[0]?.headers.authorization, seen[0]?.headers.cookie]).toEqual([undefined, undefined]);
    const missing = await service.call({
      path: `${base}/api/missing`,
      headers: { 'x-session-api-key': key },
    });
    expect(missing.status).toBe(404);
  });

  it('asks for the key of this generation, but for the health of the Agent Server', async () => {
    const { service, seen, base, key, sandboxId } = await open();
    expect((await service.call({ path: `${base}/health`, key: null })).body).toEqual({ status: 'ok' });
    for (const path of ['', '/', '/server_info', '/ALIVE', '/health/'])
      expect((await service.call({ path: `${base}${path}`, key: null })).status).not.toBe(200);
    for (const headers of [{}, { 'x-session-api-key': 'sk-wrong' }])
      expect((await service.call({ path: `${base}/api/conversations`, key: null, headers })).status).toBe(
        401,
      );
    await service.call({ method: 'POST', path: `/api/v1/sandboxes/${sandboxId}/pause` });
    const poll = async () => (await service.call({ path: `/api/v1/sandboxes?id=${sandboxId}` })).body[0];
    await eventually(poll, (row) => row.status === 'PAUSED');
    const headers = { 'x-session-api-key': key };
    expect((await service.call({ path: `${base}/api/conversations`, key: null, headers })).status).toBe(401);
    await service.call({ method: 'POST', path: `/api/v1/sandboxes/${sandboxId}/resume` });
    await eventually(poll, (row) => row.status === 'RUNNING');
    expect((await service.call({ path: `${base}/api/conversations`, key: null, headers })).status).toBe(401);
    expect(seen).toEqual([]);
  });

  it('passes nothing back by which an answer becomes a page or a script of our origin', async () => {
    const { service, base, key } = await open();
    const headers = { 'x-session-api-key': key };
    const page = await service.call({ path: `${base}/api/page`, key: null, headers });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('application/octet-stream');
    expect(page.headers.get('content-disposition')).toBe('attachment');
    const data = await service.call({ path: `${base}/api/data`, key: null, headers });
    expect(data.headers.get('content-type')).toBe('application/json');
    for (const { headers: answered } of [page, data]) {
      expect(answered.get('content-security-policy')).toContain('sandbox;');
      expect(answered.get('x-content-type-options')).toBe('nosniff');
      for (const name of ['service-worker-allowed', 'location', 'clear-site-data', 'set-cookie'])
        expect(answered.get(name)).toBeNull();
      expect(answered.get('access-control-allow-origin')).not.toBe('https://evil.example');
    }
  });

  it('C89: takes a change of tags by session key at the conversation URL, which reaches the record', async () => {
    const { service, seen, id, base, key } = await open();
    const answer = await service.call({
      method: 'PATCH',
      path: `${base}/api/conversations/${hyphenatedUuid(id)}`,
      key: null,
      headers: { 'x-session-api-key': key },
      body: { tags: { team: 'red' } },
    });
    expect([answer.status, seen[0]?.body]).toEqual([200, '{"tags":{"team":"red"}}']);
    await eventually(
      async () => (await service.call({ path: `/api/v1/app-conversations?ids=${id}` })).body[0],
      (row) => row.tags.team === 'red',
    );
    const half = await service.call({
      method: 'PATCH',
      path: `${base}/api/conversations/${hyphenatedUuid(id)}`,
      key: null,
      headers: { 'x-session-api-key': key },
      body: { tags: { team: '\ud83d' } },
    });
    expect([half.status, seen.length]).toEqual([422, 1]);
  });

  it('tunnels WebSockets, and refuses a wrong key in the header', async () => {
    const { service, base, key } = await open();
    const url = `${service.server.url.replace('http', 'ws')}${base}/sockets/events/x`;
    const socket = new WebSocket(url, { headers: { 'x-session-api-key': key } });
    onTestFinished(() => socket.terminate());
    const echoed = new Promise<string>((resolve) =>
      socket.once('message', (data: Buffer) => resolve(data.toString('utf8'))),
    );
    socket.once('open', () => socket.send('hello'));
    expect(await echoed).toBe('echo hello');
    const wrong = new WebSocket(url, { headers: { 'x-session-api-key': 'sk-wrong' } });
    const refusal = await new Promise<string>((resolve) =>
      wrong.once('error', (error) => resolve(error.message)),
    );
    expect(refusal).toContain('401');
  });
});
