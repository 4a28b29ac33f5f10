/** Replies that go out together at the end of a turn: each arrives whole, and one whose caller has left holds up none. */
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endWithTurn } from '../../proxy/relay/turn-replies.ts';

interface OpenCall {
  readonly res: ServerResponse;
  /** Of the caller: the body as text, or the code of the error. */
  readonly told: Promise<string>;
  /** Closes the caller's connection, and resolves when the server knows. */
  leave(): Promise<void>;
}

async function openCalls(count: number): Promise<readonly OpenCall[]> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const calls: OpenCall[] = [];
  for (let at = 0; at < count; at += 1) {
    const arrived = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    const request = get({ port, host: '127.0.0.1', agent });
    const told = new Promise<string>((resolve) => {
      request.on('response', (reply) => resolve(textOf(reply)));
      request.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    });
    const [, res] = await arrived;
    const leave = async (): Promise<void> => {
      const closed = once(res, 'close');
      request.destroy();
      await closed;
    };
    calls.push({ res, told, leave });
  }
  return calls;
}

async function textOf(reply: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of reply) text += String(piece);
  return text;
}

function answer({ res }: OpenCall, text: string): void {
  const body = Buffer.from(text);
  res.writeHead(200, { 'content-length': body.length });
  endWithTurn(res, body);
}

const ended = (calls: readonly OpenCall[]): boolean[] => calls.map(({ res }) => res.writableEnded);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('endWithTurn()', () => {
  it('ends all replies of a turn at its end, and those of the next turn at that one', async () => {
    const [first, second, third] = (await openCalls(3)) as [OpenCall, OpenCall, OpenCall];
    const all = [first, second, third];
    answer(first, 'one');
    answer(second, 'two');
    expect(ended(all)).toEqual([false, false, false]);
    await turn();
    expect(ended(all)).toEqual([true, true, false]);
    answer(third, 'three');
    await turn();
    expect(ended(all)).toEqual([true, true, true]);
    expect(await Promise.all(all.map(({ told }) => told))).toEqual(['one', 'two', 'three']);
  });

  it('gives the others their replies where a caller has left before its own', async () => {
    const [first, leaver, third] = (await openCalls(3)) as [OpenCall, OpenCall, OpenCall];
    await leaver.leave();
    answer(first, 'one');
    answer(leaver, 'lost');
    answer(third, 'three');
    expect(await leaver.told).toBe('ECONNRESET');
    expect(await Promise.all([first.told, third.told])).toEqual(['one', 'three']);
  });
});
