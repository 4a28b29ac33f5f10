/** Requests that are none, addresses with another method, and the forms of instants: what is answered before a handler. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { refuseUnreadable } from '../../api/application/unreadable.ts';
import { instantIn, parseInstant, wordIn } from '../../api/application/wire.ts';
import { openService } from './service.ts';

/** Everything a server says to these bytes. */
async function said(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  return text;
}

it('answers in the form of every error what is no HTTP, and what has too long an address', async () => {
  const { server } = await openService();
  const garbage = await said(server.url, 'no such thing\r\n\r\n');
  expect(garbage).toMatch(/^HTTP\/1\.1 422 [\s\S]*"code":"invalid_request"/);
  const long = await said(server.url, `GET /api/keys?x=${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`);
  expect(long).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"headers_too_large"/);
  expect(long).not.toContain('aaa');
});

it('tells a client that sends too slowly', async () => {
  const server = createServer((socket) =>
    refuseUnreadable(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const answer = await said(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'GET');
  expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/);
});

it.each([
  ['PUT', '/api/v1/app-conversations', 'POST, GET, HEAD'],
  ['DELETE', '/api/v1/sandboxes/search', 'GET, HEAD'],
  ['PATCH', '/api/keys/current', 'GET, HEAD'],
  ['POST', '/api/keys/7', 'DELETE'],
  ['POST', '/openapi.json', 'GET, HEAD'],
])('%s %s is 405, and allowed is %s', async (method, path, allow) => {
  const service = await openService();
  const answer = await service.call({ method, path });
  expect([answer.status, answer.body.code, answer.headers.get('allow')]).toEqual([
    405,
    'method_not_allowed',
    allow,
  ]);
  expect((await service.call({ method, path: `${path}/nowhere/at/all` })).status).toBe(404);
});

it('every instant whose form is told can be read', () => {
  const pattern = new RegExp(String(z.toJSONSchema(instantIn).pattern));
  fc.assert(
    fc.property(fc.stringMatching(pattern), (text) => {
      expect(instantIn.safeParse(text).success).toBe(true);
      expect(Number.isFinite(parseInstant(text))).toBe(true);
    }),
  );
  const none = ['2026-02-30', '2026-02-29T10:00Z', '1900-02-29', '2026-04-31', '2026-11-00'];
  for (const text of ['', 'now', '2024-13-01', '2024-01-01T24:00', '2024-01-01T00:00 0530', ...none])
    expect(instantIn.safeParse(text).success).toBe(false);
});

it('an instant without a zone is UTC, whatever zone the machine has', () => {
  const at = Date.UTC(2026, 1, 28, 10, 30);
  for (const text of [
    '2026-02-28T10:30',
    '2026-02-28 10:30',
    '2026-02-28T12:30 02:00',
    '2026-02-28T05:30-05:00',
  ])
    expect(parseInstant(text)).toBe(at);
  expect(parseInstant('2000-02-29')).toBe(Date.UTC(2000, 1, 29));
});

it('a word comes in either case, and in no other form', () => {
  const schema = wordIn(['NO_GROUPING', 'ADD_TO_ANY']);
  expect([schema.parse('no_grouping'), schema.parse('Add_To_Any')]).toEqual(['NO_GROUPING', 'ADD_TO_ANY']);
  for (const text of ['', 'NO_GROUPING ', 'other']) expect(schema.safeParse(text).success).toBe(false);
});
