/** The callback socket under what one sandbox can do to it: the others are heard all the same. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BODY_BYTES_PER_SANDBOX_MAX, PASSED_BYTES_MAX } from '../../api/webhook-routes.ts';
import {
  BODY_BYTES_MAX,
  CONNECTIONS_MAX,
  CONNECTIONS_PER_SANDBOX_MAX,
  startWebhookServer,
} from '../../api/webhook-server.ts';
import { activityWorld, CONVERSATION, inSandbox, SANDBOX } from '../activities/activity-world.ts';
import { agentEvent } from '../activities/fake-agent.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { callSocket, type SocketAnswer } from './socket-call.ts';

const EVENTS = `/api/v1/webhooks/events/${CONVERSATION}`;

async function callbacks() {
  const around = await activityWorld();
  await inSandbox(around, { sandbox: { generation: 2 } });
  const socketPath = path.join(tempDir(), 'webhook.sock');
  const told: string[] = [];
  const server = await startWebhookServer(around.world, socketPath, around.store.audit, {
    onStrike: (text) => told.push(text),
  });
  onTestFinished(() => server.close());
  const key = around.world.keys.sessionKey(SANDBOX, 2);
  const open = async (): Promise<Socket> => {
    const socket = connect(socketPath);
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const head = (route: string, bytes: number, isWithKey = true): string =>
    `POST ${route} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${
      isWithKey ? `x-session-api-key: ${key}\r\n` : ''
    }content-length: ${bytes}\r\n\r\n`;
  const event = (): Promise<SocketAnswer> =>
    callSocket({
      socketPath,
      path: EVENTS,
      body: [agentEvent('e1')],
      headers: { 'x-session-api-key': key },
    });
  return { told, open, head, event };
}

async function firstLine(socket: Socket): Promise<string> {
  const [said] = (await once(socket, 'data')) as [Buffer];
  return said.toString().split('\r\n')[0] ?? '';
}

describe('callbacks', () => {
  it('are taken while more connections without a key are open than there are places', async () => {
    const { open, event, told } = await callbacks();
    const sockets: Socket[] = [];
    while (sockets.length < CONNECTIONS_MAX + 100) sockets.push(await open());
    expect(await event()).toMatchObject({ status: 200 });
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThan(CONNECTIONS_MAX);
    expect(told).toContain('Cannot keep a connection to the callback socket: too many of no key');
  });

  it('of one sandbox take no more bytes than it may have under way', async () => {
    const { open, head, told } = await callbacks();
    const batches = BODY_BYTES_PER_SANDBOX_MAX / BODY_BYTES_MAX;
    for (let index = 0; index < batches; index += 1) (await open()).write(`${head(EVENTS, BODY_BYTES_MAX)}[`);
    const one = await open();
    one.write(`${head(EVENTS, BODY_BYTES_MAX)}[`);
    expect(await firstLine(one)).toContain(' 429 ');
    expect(told.join()).toContain(`callbacks of sandbox "${SANDBOX}"`);
  });

  it('that are larger than anybody sends are refused for good, before their body', async () => {
    const { open, head } = await callbacks();
    const one = await open();
    one.write(`${head(EVENTS, PASSED_BYTES_MAX + 1)}[`);
    expect(await firstLine(one)).toContain(' 422 ');
  });

  it('whose key nobody has judged take no more bytes than all of them may', async () => {
    const { open, head } = await callbacks();
    const route = '/api/v1/webhooks/conversations';
    let refused = 0;
    for (let index = 0; index < 40; index += 1) {
      const one = await open();
      one.on('data', (said: Buffer) => (refused += said.toString().includes(' 429 ') ? 1 : 0));
      one.write(`${head(route, 256 * 1024, false)}{`);
    }
    await expect.poll(() => refused).toBe(8);
  });

  it('over more connections than a sandbox may have are refused, and the connection ends', async () => {
    const { open, head, told } = await callbacks();
    const answered: Socket[] = [];
    for (let index = 0; index < CONNECTIONS_PER_SANDBOX_MAX; index += 1) {
      const socket = await open();
      socket.write(`${head(EVENTS, 2)}[]`);
      expect(await firstLine(socket)).toContain(' 200 ');
      answered.push(socket);
    }
    const one = await open();
    one.write(`${head(EVENTS, 2)}[]`);
    expect(await firstLine(one)).toContain(' 429 ');
    if (!one.closed) await once(one, 'close');
    expect(told).toContain('Cannot keep a connection to the callback socket: too many of one owner');
  });
});
