/** HTTP as clients speak it: an offer of HTTP/2, HEAD, a handshake that is none, a header that comes twice. */
import { request, type IncomingMessage } from 'node:http';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { openService, startReady, type Service } from './service.ts';

const APP = '/api/v1/app-conversations';
/** What Java's client and `curl --http2` send with every first request. */
const OFFER = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAA' };

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

function spoken({ server, ada }: Service, { method, path, headers = {}, body }: Sent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${ada}`, ...headers },
    });
    asked.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      text(answer).then((read) => resolve({ status, headers: answer.headers, body: read }), reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

it.each(['h2c', 'TLS/1.0', 'h2c, websocket-of-another-kind'])(
  'answers in HTTP/1.1 whoever offers "%s", with a body and without',
  async (upgrade) => {
    const service = await openService();
    const headers = { ...OFFER, upgrade };
    const read = await spoken(service, { method: 'GET', path: `${APP}/search`, headers });
    expect([read.status, JSON.parse(read.body)]).toEqual([200, { items: [], next_page_id: null }]);
    const body = JSON.stringify({ title: 'of a client that offers' });
    const started = await spoken(service, {
      ...{ method: 'POST', path: APP, body },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    expect(started.status).toBe(200);
    expect(JSON.parse(started.body)).toMatchObject({ request: { title: 'of a client that offers' } });
    const unknown = await spoken(service, { method: 'GET', path: '/api/v1/nothing', headers });
    expect([unknown.status, JSON.parse(unknown.body)]).toMatchObject([404, { code: 'not_found' }]);
  },
);

it('answers HEAD as GET, without the body, and says so where a method is not there', async () => {
  const service = await openService();
  const path = `${APP}/count`;
  const [head, get] = [
    await spoken(service, { method: 'HEAD', path }),
    await spoken(service, { method: 'GET', path }),
  ];
  expect([head.status, head.body]).toEqual([200, '']);
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
  const nameless = await spoken(service, { method: 'HEAD', path, headers: { authorization: '' } });
  expect(nameless.status).toBe(401);
  const put = await spoken(service, { method: 'PUT', path });
  expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD']);
  const post = await spoken(service, { method: 'HEAD', path: `${APP}/stream-start` });
  expect([post.status, post.headers.allow]).toEqual([405, 'POST']);
});

it('answers HEAD wherever there is GET, with the same status and nothing more', async () => {
  const service = await openService();
  const { id, sandboxId } = await startReady(service);
  const { session_api_key: session } = (await service.call({ path: `${APP}?ids=${id}` })).body[0];
  const values: Readonly<Record<string, string>> = { conversation_id: id, sandbox_id: sandboxId };
  const streams = ['/api/v1/conversation/:conversation_id/events/stream', '/openapi.json'];
  const urls = [
    ...APPLICATION_ROUTES.filter(({ method }) => method === 'GET').map(({ url }) => url),
    ...streams,
  ];
  expect(urls.length).toBeGreaterThan(40);
  for (const url of [...urls, '/sandboxes/:sandbox_id/agent/health']) {
    const path = url.replaceAll(/:([a-z_]+)/g, (_all, name: string) => values[name] ?? 'x');
    const headers = { 'x-session-api-key': session as string };
    const head = await spoken(service, { method: 'HEAD', path, headers });
    const status = streams.includes(url)
      ? 200
      : (await spoken(service, { method: 'GET', path, headers })).status;
    expect([url, head.status, head.body]).toEqual([url, status, '']);
  }
});

it('keeps no place among the streams for a handshake that is none', async () => {
  const service = await openService();
  const { id } = await startReady(service);
  const path = `/api/v1/conversation/${id}/events/stream`;
  const broken = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  // More than a user may have at once.
  for (let index = 0; index < 60; index += 1) {
    const { status } = await spoken(service, { method: 'GET', path, headers: broken });
    expect(status).toBe(400);
  }
  const address = `${service.server.url.replace('http', 'ws')}${path}`;
  const stream = new WebSocket(address, { headers: { authorization: `Bearer ${service.ada}` } });
  await once(stream, 'open');
  stream.terminate();
});

it('keeps no place among the streams for who leaves before the first byte', async () => {
  const service = await openService();
  const { id } = await startReady(service);
  const path = `/api/v1/conversation/${id}/events/stream`;
  const { port } = new URL(service.server.url);
  const handshake = [
    ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  const { apiKeys } = service.application;
  const findByHash = apiKeys.findByHash.bind(apiKeys);
  for (const headers of [[], handshake]) {
    // More than a user may have at once; each has left when its key has been looked up.
    const { arrived, left } = guests(service, 60);
    Object.assign(apiKeys, {
      findByHash: async (hash: string) => (await left, await findByHash(hash)),
    });
    const own = ['host: x', `authorization: Bearer ${service.ada}`, ...headers];
    const sockets = Array.from({ length: 60 }, () => connect(Number(port), '127.0.0.1'));
    for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\n${own.join('\r\n')}\r\n\r\n`);
    await arrived;
    for (const socket of sockets) socket.resetAndDestroy();
    await left;
    const places = await Promise.all(
      Array.from({ length: 20 }, () => spoken(service, { method: 'HEAD', path })),
    );
    expect(places.map(({ status }) => status)).toEqual(places.map(() => 200));
  }
});

/** When so many requests have come, and when their connections have gone. */
function guests(
  { server: { http } }: Service,
  count: number,
): { arrived: Promise<void>; left: Promise<void> } {
  const open = { coming: count, staying: count };
  const moved = new EventEmitter();
  const [arrived, left] = ['arrived', 'left'].map(async (name) => void (await once(moved, name)));
  const note = ({ method, socket }: IncomingMessage): void => {
    if (method !== 'GET') return;
    socket.once('close', () => void ((open.staying -= 1) === 0 && moved.emit('left')));
    if ((open.coming -= 1) === 0) moved.emit('arrived');
  };
  http.on('request', note).on('upgrade', note);
  return { arrived: arrived as Promise<void>, left: left as Promise<void> };
}

it('takes one Authorization header, and does not choose among several', async () => {
  const service = await openService();
  const authorization = [`Bearer ${service.ada}`, `Bearer ${service.ben}`];
  const { status, body } = await spoken(service, { method: 'GET', path: APP, headers: { authorization } });
  expect([status, JSON.parse(body).code]).toEqual([401, 'unauthorized']);
  expect(JSON.parse(body).detail).toContain('one Authorization header, not several');
  const headers = { authorization: '', 'x-session-api-key': [service.ada, service.ada] };
  const twice = await spoken(service, { method: 'GET', path: '/api/keys/current', headers });
  expect(JSON.parse(twice.body).detail).toContain('one X-Session-API-Key header, not several');
});
