/** Malformed upgrades: any client that reaches the port may send them, and the service goes on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { openService } from './service.ts';

const TARGETS = [
  '//',
  'http://',
  'http://[',
  '/%',
  '*',
  '/api/v1/conversation/%/events/stream',
  '//x:99999999/',
];

it('answers an upgrade of whatever address, and serves the next request', async () => {
  const service = await openService();
  const { hostname, port } = new URL(service.server.url);
  const answers: string[] = [];
  for (const target of TARGETS) {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`);
    await once(socket, 'close');
    answers.push(text.split(' ')[1] ?? 'none');
  }
  expect(answers).toEqual(answers.map(() => expect.stringMatching(/^4\d\d$/)));
  expect((await service.call({ method: 'GET', path: '/openapi.json' })).status).toBe(200);
}, 600_000);
