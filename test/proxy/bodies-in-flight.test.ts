/** What one key announces is refused before it is read, where there is no room beside its own calls. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { BODY_BYTES_PER_CALLER_MAX, REQUEST_BYTES_MAX } from '../../proxy/limits.ts';
import { AGENT_KEY, MASTER_KEY, startProxy } from './proxy-under-test.ts';
import { answerJson, startStubGateway } from './stub-gateway.ts';

const LARGE = 40 * 1024 ** 2;

it('bodies that a key announces have the room of one at its largest, and another key has its own', async () => {
  expect(BODY_BYTES_PER_CALLER_MAX).toBe(REQUEST_BYTES_MAX);
  const gateway = await startStubGateway(answerJson(400, '{"error":{"message":"no"}}'));
  const { url } = await startProxy({ origin: gateway.origin });
  const open = async (key: string, bytes: number): Promise<Socket> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`;
    socket.write(`${head}content-length: ${bytes}\r\n\r\n{`);
    return socket;
  };
  const answerOf = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0]);
  const first = await open(AGENT_KEY, LARGE);
  const refused = await answerOf(await open(AGENT_KEY, LARGE));
  expect(refused).toMatch(/^HTTP\/1\.1 429 /);
  expect(refused.toLowerCase()).toContain('retry-after: 2');
  expect(await answerOf(await open(AGENT_KEY, 1))).toMatch(/^HTTP\/1\.1 400 /);
  const other = await open(MASTER_KEY, LARGE);
  first.destroy();
  // What it held is free again once its end is seen: then a whole body is read, and found to be no JSON.
  const whole = async (): Promise<string> => {
    const socket = await open(AGENT_KEY, LARGE);
    socket.write(Buffer.alloc(LARGE - 1));
    return (await answerOf(socket)).slice(0, 12);
  };
  await expect.poll(whole, { timeout: 10_000 }).toBe('HTTP/1.1 400');
  expect(other.destroyed).toBe(false);
});
