/**
 * An address of its own for the Agent Server of each sandbox: clients exist that take no path in it.
 * Owns the ports: some are open before they are needed, because a record names its address without waiting. What comes
 * in is the relay's to handle, at the path it knows.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { SandboxId } from '../../core/ids.ts';
import { HttpRequest } from '../application/http-request.ts';

/** Open and not yet given away: what a burst of new sandboxes takes before more are open. */
const SPARE = 8;
/** Addresses given at once; the one that was asked for longest ago is taken back. */
const GIVEN_MAX = 500;

interface Port {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly url: string;
  /** Path of the relay that it leads to; null while it is spare. */
  prefix: string | null;
}

/** Ports of this service, each of which stands for one Agent Server. */
export interface AgentPorts {
  /** Null while no port is left; the relay's path is there all the same. */
  urlOf(sandboxId: SandboxId, prefix: string): string | null;
  close(): Promise<void>;
}

/** @throws Error no port can be opened on `host` */
export async function openAgentPorts(relay: Server, host: string): Promise<AgentPorts> {
  const spare: Port[] = [];
  // Insertion order is order of use.
  const given = new Map<SandboxId, Port>();
  let isClosed = false;
  const add = async (): Promise<void> => {
    const port = await openPort(relay, host);
    if (isClosed) await closePort(port);
    else spare.push(port);
  };
  await Promise.all(Array.from({ length: SPARE }, add));
  return {
    urlOf(sandboxId, prefix) {
      const port = given.get(sandboxId) ?? spare.shift();
      if (port === undefined) return null;
      if (port.prefix === null) add().catch(() => undefined);
      port.prefix = prefix;
      given.delete(sandboxId);
      given.set(sandboxId, port);
      const [oldest] = given;
      if (given.size > GIVEN_MAX && oldest !== undefined) {
        given.delete(oldest[0]);
        void closePort(oldest[1]);
      }
      return port.url;
    },
    async close() {
      isClosed = true;
      await Promise.all([...spare, ...given.values()].map(closePort));
    },
  };
}

async function openPort(relay: Server, host: string): Promise<Port> {
  const server = createServer({ IncomingMessage: HttpRequest });
  // What has become a WebSocket is no connection of the server any more.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const lead = (request: IncomingMessage): void => {
    request.url = `${port.prefix ?? '/nowhere'}${request.url ?? '/'}`;
  };
  server.on('request', (request: IncomingMessage, response) => {
    lead(request);
    relay.emit('request', request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    lead(request);
    relay.emit('upgrade', request, socket, head);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: 0 }, resolve);
  });
  const { port: number } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  const port: Port = { server, sockets, url: `http://${name}:${number}`, prefix: null };
  return port;
}

function closePort({ server, sockets }: Port): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
