/**
 * Open connections to Agent Servers.
 * Owns one pool per incarnation, their bound and their end; must not know what is asked.
 */
import { Pool, type Dispatcher } from 'undici';
import type { AgentAddress } from '../../ports/agent-server.ts';
import { connectToAgent } from './agent-relay.ts';
import { ADDRESSES_MAX, CONNECTIONS_PER_ADDRESS } from './limits.ts';

export interface Connection {
  readonly dispatcher: Dispatcher;
  /** Scheme, host and path prefix, without a trailing slash. */
  readonly baseUrl: string;
}

export interface Connections {
  /** A newer generation closes the connections of the older ones (D14). */
  to(address: AgentAddress): Connection;
  close(): Promise<void>;
}

/** Never resolved: a connection that goes through a socket, or through another worker, has no host of its own. */
const SOCKET_ORIGIN = 'http://agent.invalid';

interface Entry extends Connection {
  readonly address: AgentAddress;
  readonly dispatcher: Pool;
}

/** `hostKey`: as of createAgentRelay. */
export function createConnections(hostKey: Uint8Array | null): Connections {
  // Insertion order is order of use: a used entry is taken out and put back.
  const entries = new Map<string, Entry>();

  const drop = (key: string, entry: Entry): void => {
    entries.delete(key);
    // Running calls end by themselves, or by their own deadline.
    entry.dispatcher.close().catch(() => undefined);
  };

  return {
    to(address) {
      const key = keyOf(address);
      const entry = entries.get(key) ?? open(address, hostKey);
      entries.delete(key);
      entries.set(key, entry);
      for (const [otherKey, other] of entries) {
        const { sandboxId, generation } = other.address;
        if (sandboxId === address.sandboxId && generation < address.generation) drop(otherKey, other);
      }
      const oldest = entries.entries().next().value;
      if (entries.size > ADDRESSES_MAX && oldest !== undefined) drop(...oldest);
      return entry;
    },
    async close() {
      const open = [...entries.values()];
      entries.clear();
      await Promise.all(open.map((entry) => entry.dispatcher.destroy()));
    },
  };
}

function keyOf({ sandboxId, generation, agent }: AgentAddress): string {
  return `${sandboxId} ${generation} ${Object.values(agent).join(' ')}`;
}

function open(address: AgentAddress, hostKey: Uint8Array | null): Entry {
  const { agent } = address;
  if ('url' in agent) {
    const baseUrl = agent.url.replace(/\/+$/, '');
    const { origin } = new URL(baseUrl);
    return { address, baseUrl, dispatcher: new Pool(origin, { connections: CONNECTIONS_PER_ADDRESS }) };
  }
  const dispatcher = new Pool(SOCKET_ORIGIN, {
    connections: CONNECTIONS_PER_ADDRESS,
    connect: (_, callback) => {
      connectToAgent(address, hostKey).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      );
    },
  });
  return { address, baseUrl: SOCKET_ORIGIN, dispatcher };
}
