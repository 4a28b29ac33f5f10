/**
 * What a proxy is given where others serve over the same database.
 * Owns the shape; must not know a store.
 */
import type { ProxyPeers } from '../../ports/proxy-peers.ts';
import type { SecretVault } from '../../ports/secret-vault.ts';
import type { SpendLeases } from '../../ports/spend-leases.ts';

export interface ProxySharing {
  readonly peers: ProxyPeers;
  readonly leases: SpendLeases;
  /** Opens for every proxy: models that were added are in it. */
  readonly vault: SecretVault;
  /** Brings in what dead proxies left on this host. */
  readonly tendOrphans?: () => Promise<void>;
}
