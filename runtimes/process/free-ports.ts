/**
 * Loopback ports for sandboxes that share the host's network.
 * Owns how many; another program may take one before the sandbox does, and then whoever starts it chooses anew.
 */
import type { Server } from 'node:net';
import { holdFreePort, portOf, release } from '../../loopback/free-port.ts';
import type { RoutePorts } from '../on-host/inside-view.ts';

/** Three different free ports; the preferred ones where they are free, so that addresses survive a resume. */
export async function chooseFreePorts(preferred: RoutePorts | null): Promise<RoutePorts> {
  const held: Server[] = [];
  try {
    const take = async (wanted: number | undefined): Promise<number> => {
      const server = await holdFreePort(wanted ?? null);
      held.push(server);
      return portOf(server);
    };
    const proxy = await take(preferred?.proxy);
    const webhook = await take(preferred?.webhook);
    return { proxy, webhook, git: await take(preferred?.git) };
  } finally {
    await Promise.all(held.map(release));
  }
}
