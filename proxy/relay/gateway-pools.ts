/**
 * Connections to the gateways, one pool an origin.
 * Owns their bounds and their end; must not retry, cool down or choose between gateways.
 */
import { Pool, type buildConnector } from 'undici';
import { gatewayConnector } from '../../clients/gateway/gateway-connection.ts';
import { REPLY_HEADER_BYTES_MAX } from '../../clients/gateway/limits.ts';
import { joinShortWrites } from './joined-writes.ts';
import { CONNECTIONS_PER_GATEWAY_MAX, CONNECT_TIMEOUT_MS, GATEWAY_KEEP_ALIVE_MS } from '../limits.ts';

const plainConnect = gatewayConnector({ timeout: CONNECT_TIMEOUT_MS });

const connect: buildConnector.connector = (wanted, connected) =>
  plainConnect(wanted, (...outcome) => {
    if (outcome[0] === null) joinShortWrites(outcome[1]);
    connected(...outcome);
  });

export class GatewayPools {
  private readonly pools = new Map<string, Pool>();
  /** Pools of gateways that are no longer configured and still have calls. */
  private readonly leaving = new Set<Pool>();

  /** Made on first use: a proxy starts without opening a connection. */
  to(origin: string): Pool {
    const known = this.pools.get(origin);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: CONNECTIONS_PER_GATEWAY_MAX,
      // One call a connection: a stream in front would hold up every call behind it.
      pipelining: 1,
      keepAliveTimeout: GATEWAY_KEEP_ALIVE_MS,
      maxHeaderSize: REPLY_HEADER_BYTES_MAX,
      connect,
    });
    this.pools.set(origin, pool);
    return pool;
  }

  /** Lets go of gateways that are no longer configured, once their calls have ended. */
  keepOnly(origins: ReadonlySet<string>): void {
    for (const [origin, pool] of this.pools) {
      if (origins.has(origin)) continue;
      this.pools.delete(origin);
      this.leaving.add(pool);
      void pool.close().finally(() => this.leaving.delete(pool));
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values(), ...this.leaving].map((pool) => pool.destroy()));
  }
}
