/**
 * The block `proxy_config`, checked by the proxy's own parser, its findings put at their place in the file.
 * Owns the translation; the rules are the proxy's (D25).
 */
import { pathSteps, placeOf } from './config-place.ts';
import type { DeploymentFile } from './deployment-file.ts';
import type { Environment } from './effective-values.ts';
import type { Problem } from './problem.ts';

export interface ProxyBlock {
  readonly raw: unknown;
  readonly vendor: string;
  readonly port: number;
  readonly env: Environment;
  readonly file: DeploymentFile | null;
}

/** Nobody misses the master key while the proxy listens for sandboxes alone. */
const MASTER_KEY_PATH = 'proxy_config.master_key';

export async function checkProxy(
  block: ProxyBlock,
): Promise<{ readonly forwardsHeaders: boolean; readonly problems: readonly Problem[] }> {
  const { parseProxyConfig } = await import('../../proxy/config-reading.ts');
  const { config, problems } = parseProxyConfig(block.raw, block.env, { vendor: block.vendor });
  const said = problems.filter(({ path }) => path !== MASTER_KEY_PATH || block.port !== 0);
  return {
    forwardsHeaders: config.forwardClientHeaders,
    problems: said.map(({ severity, path, message }) => ({
      severity,
      area: 'proxy',
      ...placeAt(path, block.file),
      message,
      remedy: remedyOf(message),
    })),
  };
}

function placeAt(path: string, file: DeploymentFile | null) {
  return file === null ? { file: path, line: null, column: null } : placeOf(file, pathSteps(path));
}

function remedyOf(message: string): string | null {
  const variable = /environment variable "([^"]+)" is not set/.exec(message)?.[1];
  return variable === undefined ? null : `set ${variable}`;
}
