/**
 * Writes the spool of a dead proxy to the store, from another proxy.
 * Owns the order: rows first, then what they mean for shared limits. The caller must have the folder alone.
 */
import type { ProxyPeers } from '../../ports/proxy-peers.ts';
import type { SpendLeases } from '../../ports/spend-leases.ts';
import type { SpendLog } from '../../ports/spend-log.ts';
import { FLUSH_ROWS_MAX } from '../limits.ts';
import { rowsOf, SpendSpool } from './spend-spool.ts';

export interface OrphanStores {
  readonly spend: Pick<SpendLog, 'write'>;
  readonly peers: Pick<ProxyPeers, 'retire'>;
  readonly leases: Pick<SpendLeases, 'settle'>;
  readonly clock: { now(): number };
}

/** Returns how many calls it held; safe to repeat. @throws ParleyError store_unavailable: the rest stays there */
export async function drainSpool(spoolDir: string, stores: OrphanStores): Promise<number> {
  const { spend, peers, leases, clock } = stores;
  const spool = new SpendSpool(spoolDir);
  const proxies = new Set<string>();
  const calls = new Set<string>();
  for (let segment = spool.oldest(); segment !== null; segment = spool.oldest()) {
    const rows = rowsOf(segment);
    for (let at = 0; at < rows.length; at += FLUSH_ROWS_MAX)
      await spend.write(rows.slice(at, at + FLUSH_ROWS_MAX));
    for (const { callId, proxyId } of rows) {
      calls.add(callId);
      if (proxyId !== undefined) proxies.add(proxyId);
    }
    spool.dropOldest(rows);
  }
  for (const id of proxies) {
    // Its folder was free, so it is dead, even if its lease still runs.
    await peers.retire(id, clock.now());
    await leases.settle(id);
  }
  return calls.size;
}
