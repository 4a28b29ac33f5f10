/**
 * Loopback ports that lead out of the sandbox.
 * Owns plain byte copying in both directions, with back-pressure and half-close; must not look at the bytes.
 */
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Bridge } from './arguments.ts';

/** Open connections per port; more wait in the kernel's queue, so that a loop inside cannot exhaust the host. */
const CONNECTIONS_MAX = 256;

/**
 * Listens on 127.0.0.1 and connects every caller to the socket. The socket may appear later or be replaced:
 * it is looked up for each connection, and a caller that comes too early is disconnected.
 * @throws Error the port cannot be bound
 */
export function openBridge(bridge: Bridge): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (inner) => {
    join(inner, connect({ path: bridge.socketPath, allowHalfOpen: true }));
  });
  server.maxConnections = CONNECTIONS_MAX;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(bridge.port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

/** `pipe` ends the other side's writing half when one side ends, and waits while the other side is full. */
function join(inner: Socket, outer: Socket): void {
  for (const [here, there] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    here.on('error', () => there.destroy());
    here.on('close', (hadError) => {
      if (hadError || !here.readableEnded) there.destroy();
    });
    here.pipe(there);
  }
}
