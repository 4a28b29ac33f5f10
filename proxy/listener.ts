/**
 * The sockets the proxy listens on.
 * Owns opening and closing them; must not know what is served.
 */
import { lstatSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ConnectionShares } from '../core/shares/connection-shares.ts';
import { ParleyError } from '../core/parley-error.ts';
import { envelope, failure } from './failure.ts';
import { joinShortWrites } from './relay/joined-writes.ts';
import { CLIENT_KEEP_ALIVE_MS, HEADER_BYTES_MAX, REQUEST_TIMEOUT_MS } from './limits.ts';

/** Where to listen; port 0 takes a free one. */
export type ProxyAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number };

export interface Listener {
  /** As bound: a port of 0 is replaced by the real one. */
  readonly address: ProxyAddress;
  /** Refuses new connections at once, lets calls in flight end within `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/** Connections of the sockets that are bound into sandboxes, whose callers share what the process may open. */
export interface SandboxConnections {
  readonly max: number;
  readonly shares: ConnectionShares<Socket>;
}

/**
 * @throws ParleyError internal when the address cannot be bound, e.g. because it is in use.
 */
export async function openListener(
  wanted: ProxyAddress,
  serve: RequestListener,
  sandboxes: SandboxConnections,
): Promise<Listener> {
  const server = createServer(
    { noDelay: true, maxHeaderSize: HEADER_BYTES_MAX, requestTimeout: REQUEST_TIMEOUT_MS },
    serve,
  );
  server.keepAliveTimeout = CLIENT_KEEP_ALIVE_MS;
  // Only sockets are bound into sandboxes; a port serves users of this machine.
  if ('socketPath' in wanted) {
    server.maxConnections = sandboxes.max;
    server.on('connection', (socket) => sandboxes.shares.opened(socket));
  }
  server.on('connection', joinShortWrites);
  server.on('clientError', refuseUnreadable);
  // A request with an unknown `Expect` header is served all the same; Node would refuse it without our envelope.
  server.on('checkExpectation', serve);
  if ('socketPath' in wanted) await removeStaleSocket(wanted.socketPath);
  await bind(server, wanted);
  const bound = server.address();
  const address =
    'port' in wanted && typeof bound === 'object' && bound !== null
      ? { host: wanted.host, port: bound.port }
      : wanted;
  return { address, close: (graceMs) => closeServer(server, graceMs) };
}

function bind(server: Server, wanted: ProxyAddress): Promise<void> {
  const place = 'socketPath' in wanted ? wanted.socketPath : `${wanted.host}:${wanted.port}`;
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new ParleyError('internal', `Cannot listen on "${place}": ${cause.message}`, { cause }));
    });
    if ('socketPath' in wanted) server.listen(wanted.socketPath, resolve);
    else server.listen(wanted.port, wanted.host, resolve);
  });
}

/** A killed process leaves its socket file behind; a socket that still answers is left alone. */
async function removeStaleSocket(socketPath: string): Promise<void> {
  const isSocket = lstatSync(socketPath, { throwIfNoEntry: false })?.isSocket() ?? false;
  if (isSocket && !(await answers(socketPath))) rmSync(socketPath, { force: true });
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socketPath);
    probe.on('error', () => resolve(false));
    probe.once('connect', () => {
      resolve(true);
      probe.destroy();
    });
  });
}

/** A request that is no HTTP, or has too long a header, still gets the envelope. */
function refuseUnreadable(error: Error, socket: Socket | NodeJS.WritableStream): void {
  if (!('destroyed' in socket) || socket.destroyed || !socket.writable) return;
  const isTooLong = 'code' in error && error.code === 'HPE_HEADER_OVERFLOW';
  const line = isTooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  const message = isTooLong ? `its headers are over ${HEADER_BYTES_MAX} bytes` : 'it is no valid HTTP';
  const body = envelope(failure('invalid_request', `Cannot read the request: ${message}`));
  const head = `HTTP/1.1 ${line}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
