/**
 * Loopback ports for sandboxes that share the host's network.
 * Owns picking them; between picking and use another program may take one, and then the start fails with that reason.
 */
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { RoutePorts } from '../on-host/inside-view.ts';

/** Three different free ports; the preferred ones where they are free, so that addresses survive a resume. */
export async function chooseFreePorts(preferred: RoutePorts | null): Promise<RoutePorts> {
  const held: Server[] = [];
  try {
    const take = async (wanted: number): Promise<number> => {
      const server = (await hold(wanted)) ?? (await hold(0));
      if (server === null) throw new Error('Cannot choose a port: the system gave none');
      held.push(server);
      return (server.address() as AddressInfo).port;
    };
    const proxy = await take(preferred?.proxy ?? 0);
    const webhook = await take(preferred?.webhook ?? 0);
    return { proxy, webhook, git: await take(preferred?.git ?? 0) };
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function hold(port: number): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
