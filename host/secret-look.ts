/**
 * Secrets that a command reads before anything runs: environment, files, and the store read only.
 * Owns that the reading leaves nothing behind: it makes neither a key nor a store.
 */
import { existsSync } from 'node:fs';
import type { SecretReference } from '../core/plan/plan.ts';
import type { SecretVault } from '../ports/secret-vault.ts';
import { loadSealKey } from '../store/access/seal-key.ts';
import type { DeploymentConfig } from './config/deployment-config.ts';
import { readDeployedStore } from './follow/config-store.ts';
import { placesOf } from './sandboxes/places.ts';
import { createSecretSource } from './secret-source.ts';

export interface SecretLook {
  /** Null when it is not there. */
  resolve(reference: SecretReference): Promise<string | null>;
  close(): Promise<void>;
}

/** The store is opened for the first secret that is in it. */
export function openSecretLook(
  config: DeploymentConfig,
  env: Readonly<Record<string, string | undefined>>,
): SecretLook {
  const { sealKeyFile: path } = placesOf(config.dataDir);
  const key = env['PARLEY_SEAL_KEY'];
  let opening: ReturnType<typeof readDeployedStore> | null = null;
  const vault: Pick<SecretVault, 'get'> = {
    async get(scope, name) {
      // This reading makes no key: without one nothing was ever sealed.
      if (key === undefined && !existsSync(path)) return null;
      opening ??= readDeployedStore(config);
      const store = await opening;
      return store === null ? null : await store.vault(loadSealKey({ env: key, path })).get(scope, name);
    },
  };
  const source = createSecretSource(env, vault);
  return {
    resolve: (reference) => source.resolve(reference),
    async close() {
      const store = await opening?.catch(() => null);
      await store?.close();
    },
  };
}
