/**
 * Which Temporal server a command means: what is typed, else what the deployment says.
 * Owns the shared options; certificates and keys are the deployment's and never typed (D20).
 */
import { Option } from 'commander';
import type { TemporalServer } from '../../temporal/server-address.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import type { Shell } from '../../host/shell.ts';

/** Where `parley temporal dev` and the tools of Temporal listen. */
const DEFAULT_ADDRESS = '127.0.0.1:7233';

export interface ServerFlags {
  readonly address?: string;
  readonly namespace?: string;
  readonly config?: string;
}

export function addressOption(): Option {
  return new Option(
    '--address <host:port>',
    `Temporal server (default: engine.address, or ${DEFAULT_ADDRESS})`,
  );
}

export function namespaceOption(): Option {
  return new Option('--namespace <name>', 'namespace (default: engine.namespace)');
}

/** @throws CliError when the configuration has errors */
export async function serverOf(shell: Shell, flags: ServerFlags): Promise<TemporalServer> {
  return serverIn(await openDeployment(shell, { path: flags.config, startsProxy: false }), flags);
}

export function serverIn({ engine }: DeploymentConfig, flags: ServerFlags): TemporalServer {
  const { address, namespace, tls, apiKey } = engine.temporal;
  return {
    address: flags.address ?? address ?? DEFAULT_ADDRESS,
    namespace: flags.namespace ?? namespace,
    ...(tls === null ? {} : { tls }),
    ...(apiKey === null ? {} : { apiKey }),
  };
}
