/**
 * A raw connection to an Agent Server: by socket, by address, or through the worker of its host.
 * Owns the connecting; what goes over it is between the client and the Agent Server.
 */
import { connect, type Socket } from 'node:net';
import { ParleyError } from '../../core/parley-error.ts';
import type { AgentAddress } from '../../ports/agent-server.ts';
import type { AgentRelay } from '../../ports/agent-relay.ts';
import { connectGuarded } from './guarded-socket.ts';
import { connectThroughHost } from './host-relay.ts';

/** `hostKey`: as HostRelayOptions.key; null leads to no other host. */
export function createAgentRelay(hostKey: Uint8Array | null): AgentRelay {
  return { connect: (address) => connectToAgent(address, hostKey) };
}

/** @throws Error as AgentRelay.connect; ParleyError as connectThroughHost */
export async function connectToAgent(address: AgentAddress, hostKey: Uint8Array | null): Promise<Socket> {
  const { agent } = address;
  if ('socketPath' in agent) return connectGuarded(agent.socketPath);
  if ('relay' in agent) {
    if (hostKey === null)
      throw new ParleyError('host_unreachable', 'Cannot reach an agent of another host: there is no key');
    return connectThroughHost({ ...address, agent }, hostKey);
  }
  const { hostname, port } = new URL(agent.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 80 : Number(port) });
    // For good: a peer may break it before the caller listens.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}
