/**
 * Connections to the gateways, one pool an origin.
 * Owns their bounds and their end; must not retry, cool down or choose between gateways.
 */
import { Pool } from 'undici';
import { CONNECTIONS_PER_GATEWAY_MAX, CONNECT_TIMEOUT_MS, GATEWAY_KEEP_ALIVE_MS } from './limits.ts';

export class GatewayPools {
  private readonly pools = new Map<string, Pool>();

  /** Made on first use: a proxy starts without opening a connection. */
  to(origin: string): Pool {
    const known = this.pools.get(origin);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: CONNECTIONS_PER_GATEWAY_MAX,
      // One call a connection: a stream in front would hold up every call behind it.
      pipelining: 1,
      keepAliveTimeout: GATEWAY_KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    });
    this.pools.set(origin, pool);
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
  }
}
