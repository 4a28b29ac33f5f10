/**
 * The relay of a worker: agents of the sandboxes on its host, for other processes of the deployment.
 * Owns what leads to an agent here, and the refusal of an address that cannot be listened on.
 */
import { agentTarget } from '../../activities/agent-target.ts';
import type { World } from '../../activities/world.ts';
import { connectToAgent } from '../../clients/agent/agent-relay.ts';
import { openHostRelay } from '../../clients/agent/host-relay.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { HostConfig } from '../config/deployment-config.ts';

/** @returns what ends it @throws ParleyError engine_misconfigured */
export async function serveRelay(
  { address, listen }: NonNullable<HostConfig['relay']>,
  { world, key }: { readonly world: World; readonly key: Uint8Array },
): Promise<() => Promise<void>> {
  const at = { host: listen, port: Number(address.slice(address.lastIndexOf(':') + 1)) };
  const relay = await openHostRelay({
    ...{ key, at },
    // Those that live here, and no others: a way never leads through two hosts.
    connect: async (incarnation) => connectToAgent((await agentTarget(world, incarnation)).address, null),
  }).catch((cause: unknown) => {
    throw new ParleyError(
      'engine_misconfigured',
      `Cannot let other processes reach agents of this host: port ${at.port} of "${listen}" cannot be listened on`,
      { cause, remedy: 'choose another port in host.relay, or another address in host.relay_listen' },
    );
  });
  return () => relay.close();
}
