/**
 * Ports that lead out of the sandbox, and one that may lead in.
 * Owns plain byte copying in both directions, with back-pressure and half-close; must not read the bytes.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Bridge, SocketBridge } from './arguments.ts';

/** Open connections per port; more wait in the kernel's queue, so that a loop inside cannot exhaust the host. */
const CONNECTIONS_MAX = 256;

/**
 * Listens on 127.0.0.1 and connects every caller to the socket or address. The socket may appear later or be replaced:
 * it is resolved for each connection, and a caller that comes too early is disconnected.
 * @throws Error the port cannot be bound
 */
export function openBridge(bridge: Bridge): Promise<Server> {
  return listen(bridge, '127.0.0.1');
}

/** The same in the other direction: callers of the port reach the socket. @throws Error as `openBridge` */
export function openEntrance(entrance: SocketBridge): Promise<Server> {
  return listen(entrance, undefined);
}

/** Without a host it is every address, of IPv6 too where the machine has any. */
function listen(bridge: Bridge, host: string | undefined): Promise<Server> {
  const target = 'remote' in bridge ? bridge.remote : { path: bridge.socketPath };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (inner) => {
    join(inner, connect({ ...target, allowHalfOpen: true }));
  });
  server.maxConnections = CONNECTIONS_MAX;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(bridge.port, host, () => {
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
