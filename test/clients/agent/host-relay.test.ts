/** The way through the worker of another host: who is let through, what passes, and what ends. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgentClient } from '../../../clients/agent/agent-client.ts';
import { connectToAgent, createAgentRelay } from '../../../clients/agent/agent-relay.ts';
import { openHostRelay, type HostRelay } from '../../../clients/agent/host-relay.ts';
import { RELAY_CONNECTIONS_PER_SANDBOX_MAX } from '../../../clients/agent/limits.ts';
import { ParleyError } from '../../../core/parley-error.ts';
import type { AgentTarget } from '../../../ports/agent-server.ts';
import { SANDBOX_ID, SESSION_KEY, startStub, type Stub } from './stub-server.ts';

const KEY = new Uint8Array(32).fill(5);
const OTHER_KEY = new Uint8Array(32).fill(6);

interface Scene {
  readonly stub: Stub;
  readonly relay: HostRelay;
  readonly asked: unknown[];
  readonly target: AgentTarget;
}

/** A worker with one sandbox, of generation 1. */
async function scene(): Promise<Scene> {
  const stub = await startStub();
  const asked: unknown[] = [];
  const relay = await openHostRelay({
    key: KEY,
    at: { host: '127.0.0.1', port: 0 },
    connect: (incarnation) => {
      asked.push(incarnation);
      if (incarnation.sandboxId !== SANDBOX_ID) throw new ParleyError('runtime_gone', 'Cannot: gone');
      if (incarnation.generation !== 1) throw new ParleyError('stale_generation', 'Cannot: stale');
      return connectToAgent(stub.target.address, null);
    },
  });
  onTestFinished(() => relay.close());
  return { stub, relay, asked, target: through(relay) };
}

function through({ port }: HostRelay, generation = 1, sandboxId = SANDBOX_ID): AgentTarget {
  const agent = { relay: `127.0.0.1:${port}` };
  return { address: { sandboxId, generation, agent }, sessionKey: SESSION_KEY };
}

describe('openHostRelay()', () => {
  it('lets a client ask an agent as if it were beside it', async () => {
    const { stub, target, asked } = await scene();
    const client = createAgentClient({ hostKey: KEY });
    onTestFinished(() => client.close());
    stub.answer('GET /server_info', { body: { idle_time: 7 } });
    expect([await client.idleSeconds(target), await client.idleSeconds(target)]).toEqual([7, 7]);
    expect(stub.seen[0]?.headers['x-session-api-key']).toBe(SESSION_KEY);
    expect(asked[0]).toEqual({ sandboxId: SANDBOX_ID, generation: 1 });
  });

  it('passes more than any buffer holds, both ways, byte for byte', async () => {
    const { stub, target } = await scene();
    const client = createAgentClient({ hostKey: KEY });
    onTestFinished(() => client.close());
    const large = 'x'.repeat(5_000_000);
    stub.answer('GET /api/file/download', { body: large });
    const file = await client.readFile(target, '/workspace/large');
    expect(Buffer.from(file ?? '').toString() === large).toBe(true);
    stub.answer('POST /api/file/upload', {});
    await client.writeFile(target, '/workspace/large', Buffer.from(large));
    expect(stub.seen.at(-1)?.body).toContain(large);
  });

  it('is a raw way as well, and each side hears of the end of the other', async () => {
    const { relay } = await scene();
    const socket = await createAgentRelay(KEY).connect(through(relay).address);
    const over = once(socket, 'close');
    await relay.close();
    await over;
    await expect(createAgentRelay(KEY).connect(through(relay).address)).rejects.toMatchObject({
      code: 'agent_unreachable',
    });
  });

  it('says what its worker knows of a sandbox that is not there', async () => {
    const { relay } = await scene();
    const ways = createAgentRelay(KEY);
    const other = '1'.repeat(32) as typeof SANDBOX_ID;
    await expect(ways.connect(through(relay, 1, other).address)).rejects.toMatchObject({
      code: 'runtime_gone',
    });
    await expect(ways.connect(through(relay, 2).address)).rejects.toMatchObject({ code: 'stale_generation' });
    await expect(createAgentRelay(null).connect(through(relay).address)).rejects.toMatchObject({
      code: 'host_unreachable',
    });
  });

  it('asks nobody for who has another key, none, or says something else', async () => {
    const { relay, asked } = await scene();
    await expect(createAgentRelay(OTHER_KEY).connect(through(relay).address)).rejects.toMatchObject({
      code: 'agent_unreachable',
    });
    const plain = connectPlain(relay.port, '127.0.0.1');
    plain.on('error', () => undefined);
    plain.write(`${SANDBOX_ID} 1\n`);
    await once(plain, 'close');
    for (const hello of ['GET / HTTP/1.1\r\n', `${SANDBOX_ID} 1 \n`, `${'x'.repeat(5_000)}`]) {
      const socket = await secured(relay);
      const over = once(socket, 'close');
      socket.resume();
      socket.write(hello);
      await over;
    }
    expect(asked).toEqual([]);
  });

  it('gives an agent no more connections than its bound, and gives what is free again', async () => {
    const { relay } = await scene();
    const ways = createAgentRelay(KEY);
    const connect = () => ways.connect(through(relay).address);
    const open = await Promise.all(Array.from({ length: RELAY_CONNECTIONS_PER_SANDBOX_MAX }, connect));
    await expect(connect()).rejects.toMatchObject({ code: 'agent_unreachable' });
    for (const socket of open) socket.destroy();
    await expect
      .poll(() =>
        connect().then(
          (socket) => socket.destroy() !== null,
          () => false,
        ),
      )
      .toBe(true);
  });
});

/** A connection whose peer has the key, and says what it likes. */
async function secured({ port }: HostRelay): Promise<Socket> {
  const socket = connectTls({
    ...{ host: '127.0.0.1', port, ciphers: 'PSK', maxVersion: 'TLSv1.2' },
    pskCallback: () => ({ psk: Buffer.from(KEY), identity: 'parley' }),
    checkServerIdentity: () => undefined,
  });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}
