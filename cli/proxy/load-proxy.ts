/**
 * The part of a configuration file that the proxy needs.
 * Owns the choice; the file is read and checked as for every command.
 */
import type { ProxyConfig } from '../../proxy/config.ts';
import { parseProxyConfig } from '../../proxy/config-reading.ts';
import { loadDeployment } from '../config/load-deployment.ts';
import type { StoreConfig } from '../config/deployment-config.ts';
import type { Problem } from '../config/problem.ts';
import type { Shell } from '../shell.ts';

export interface LoadedProxy {
  /** Null when there is an error among the problems. */
  readonly config: ProxyConfig | null;
  readonly problems: readonly Problem[];
  readonly vendor: string;
  /** Absolute; "" while the file has errors. */
  readonly dataDir: string;
  /** Null while the file has errors. */
  readonly store: StoreConfig | null;
}

/** Never throws for anything that the file or the environment holds. */
export async function loadProxy(
  file: string,
  { cwd, env }: Pick<Shell, 'cwd' | 'env'>,
): Promise<LoadedProxy> {
  const { config: deployment, problems } = await loadDeployment({ path: file, cwd, env });
  const isBroken = problems.some(({ severity }) => severity === 'error');
  if (deployment === null || isBroken) {
    return { config: null, problems, vendor: '', dataDir: '', store: null };
  }
  const { vendor } = deployment.deployment;
  const { config } = parseProxyConfig(deployment.proxyConfigRaw, env, { vendor });
  return { config, problems, vendor, dataDir: deployment.dataDir, store: deployment.store };
}
