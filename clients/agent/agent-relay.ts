/**
 * A raw connection to an Agent Server, by socket or by address.
 * Owns the connecting; what goes over it is between the client and the Agent Server.
 */
import { connect, type Socket } from 'node:net';
import type { AgentRelay } from '../../ports/agent-relay.ts';
import type { SandboxAddress } from '../../ports/sandbox-runtime.ts';
import { connectGuarded } from './guarded-socket.ts';

/** Connects anew for each call; what comes back is a bare socket. */
export function createAgentRelay(): AgentRelay {
  return { connect: ({ agent }) => open(agent) };
}

async function open(agent: SandboxAddress['agent']): Promise<Socket> {
  if ('socketPath' in agent) return connectGuarded(agent.socketPath);
  const { hostname, port } = new URL(agent.url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 80 : Number(port) });
    // For good: a peer may break it before whoever asked for it listens.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}
