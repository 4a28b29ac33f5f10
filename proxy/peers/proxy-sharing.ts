/**
 * What a proxy is given where others serve over the same database.
 * Owns the shape; must not know a store.
 */
import type { SecretVault } from '../../ports/secret-vault.ts';
import type { PeerLife } from './peer-life.ts';

export interface ProxySharing {
  /** Of the process that the proxy is in; it begins and ends with the proxy. */
  readonly life: PeerLife;
  /** Opens for every proxy: models that were added are in it. */
  readonly vault: SecretVault;
}
