/**
 * The way to an Agent Server of another host: its worker lets processes of the same installation through, byte by byte.
 * Owns both ends of that connection: TLS under a key that only they have, one line that says to which incarnation, one
 * that answers, and the bounds. What goes over it is between the client and the Agent Server, which has its own key.
 */
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { sandboxId as asSandboxId, type SandboxId } from '../../core/ids.ts';
import { asParleyError, ParleyError } from '../../core/parley-error.ts';
import type { AgentAddress } from '../../ports/agent-server.ts';
import {
  RELAY_CONNECTIONS_MAX,
  RELAY_CONNECTIONS_PER_SANDBOX_MAX,
  RELAY_HELLO_MS_MAX,
  RELAY_LINE_BYTES_MAX,
  RELAY_SILENCE_MS_MAX,
} from './limits.ts';

/** A key that both ends have replaces certificates; recorded traffic stays closed even if that key gets out. */
const SECURED = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const satisfies TlsOptions;
const IDENTITY = 'parley';
const HELLO = /^([0-9a-f]{32}) (\d{1,9})$/;
const OPEN = 'open';

export interface HostRelayOptions {
  /** 32 bytes that the processes of an installation have in common. */
  readonly key: Uint8Array;
  readonly at: { readonly host: string; readonly port: number };
  /** To the agent of an incarnation that lives here. @throws ParleyError it does not, or is not up */
  readonly connect: (incarnation: {
    readonly sandboxId: SandboxId;
    readonly generation: number;
  }) => Promise<Socket>;
}

export interface HostRelay {
  readonly port: number;
  /** Ends what is open. */
  close(): Promise<void>;
}

/** @throws Error the address cannot be listened on */
export async function openHostRelay(options: HostRelayOptions): Promise<HostRelay> {
  const sockets = new Set<Socket>();
  const bySandbox = new Map<SandboxId, number>();
  const psk = Buffer.from(options.key);
  const server = createServer({
    ...SECURED,
    pskCallback: (_socket, identity) => (identity === IDENTITY ? psk : null),
    handshakeTimeout: RELAY_HELLO_MS_MAX,
  });
  server.maxConnections = RELAY_CONNECTIONS_MAX;
  // Also those whose TLS handshake is not over: each counts, and each is closed.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    serve(socket, { options, bySandbox }).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.at, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

interface Serving {
  readonly options: HostRelayOptions;
  readonly bySandbox: Map<SandboxId, number>;
}

async function serve(socket: TLSSocket, { options, bySandbox }: Serving): Promise<void> {
  const match = HELLO.exec(await readLine(socket));
  if (match === null) return void socket.destroy();
  const [, id = '', generation = ''] = match;
  const sandboxId = asSandboxId(id);
  const open = bySandbox.get(sandboxId) ?? 0;
  if (open >= RELAY_CONNECTIONS_PER_SANDBOX_MAX) return void socket.end('agent_unreachable\n');
  bySandbox.set(sandboxId, open + 1);
  socket.once('close', () => {
    const left = (bySandbox.get(sandboxId) ?? 1) - 1;
    if (left === 0) bySandbox.delete(sandboxId);
    else bySandbox.set(sandboxId, left);
  });
  try {
    const agent = await options.connect({ sandboxId, generation: Number(generation) });
    if (socket.destroyed) return void agent.destroy();
    socket.write(`${OPEN}\n`);
    join(socket, agent);
  } catch (error) {
    socket.end(`${asParleyError(error).code}\n`);
  }
}

/** Each side is notified of the other's end; one on which nothing moves is ended. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.setTimeout(RELAY_SILENCE_MS_MAX, () => from.destroy());
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
    from.pipe(to);
  }
}

/** @throws ParleyError agent_unreachable, or what its worker answers; the address names no relay */
export async function connectThroughHost(
  { sandboxId, generation, agent }: AgentAddress & { readonly agent: { readonly relay: string } },
  key: Uint8Array,
): Promise<Socket> {
  const psk = Buffer.from(key);
  const { hostname, port } = new URL(`tls://${agent.relay}`);
  const socket = connect({
    ...SECURED,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port),
    pskCallback: () => ({ psk, identity: IDENTITY }),
    // The key proves the identity; there is no certificate.
    checkServerIdentity: () => undefined,
  });
  try {
    const secured = new Promise<void>((resolve) => socket.once('secureConnect', resolve));
    await withinHello(socket, secured);
    socket.write(`${sandboxId} ${generation}\n`);
    const answer = await readLine(socket);
    if (answer !== OPEN) throw refused(answer);
    return socket;
  } catch (error) {
    socket.destroy();
    if (error instanceof ParleyError) throw error;
    throw new ParleyError('agent_unreachable', 'Cannot reach the worker of its host', { cause: error });
  }
}

/** Of another process, of another version maybe: an unknown word is as good as none. */
function refused(answer: string): ParleyError {
  const code = KNOWN_REFUSALS.find((known) => known === answer) ?? 'agent_unreachable';
  return new ParleyError(code, `Cannot reach the Agent Server on its host: ${code}`);
}

const KNOWN_REFUSALS = ['runtime_gone', 'runtime_unreachable', 'stale_generation'] as const;

/** What follows the line stays for the next read. @throws Error it is too long, late, or does not end */
async function readLine(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  const line = new Promise<string>((resolve, reject) => {
    const onReadable = (): void => {
      for (let chunk; (chunk = socket.read() as Buffer | null) !== null;) {
        const whole = Buffer.concat([...chunks, chunk]);
        const end = whole.indexOf('\n');
        if (end >= 0) {
          socket.off('readable', onReadable);
          socket.unshift(whole.subarray(end + 1));
          return resolve(whole.subarray(0, end).toString('latin1'));
        }
        if (whole.length > RELAY_LINE_BYTES_MAX) return reject(new Error('its line is too long'));
        chunks.splice(0, chunks.length, whole);
      }
    };
    socket.on('readable', onReadable);
  });
  return await withinHello(socket, line);
}

/** @throws Error the connection has broken, or it took too long */
async function withinHello<Value>(socket: Socket, work: Promise<Value>): Promise<Value> {
  let end = (): void => undefined;
  const broken = new Promise<never>((_resolve, reject) => {
    const fail = (error?: unknown): void =>
      reject(error instanceof Error ? error : new Error('the connection was closed'));
    const timer = setTimeout(() => fail(new Error('it took too long')), RELAY_HELLO_MS_MAX);
    // The listener of errors stays: a peer may break it at any time.
    socket.on('error', fail);
    socket.once('close', fail);
    end = () => {
      clearTimeout(timer);
      socket.off('close', fail);
    };
  });
  broken.catch(() => undefined);
  try {
    return await Promise.race([work, broken]);
  } finally {
    end();
  }
}
