/**
 * Which Temporal server a command means: what is typed, else what the deployment says.
 * Owns the choice; certificates and keys are the deployment's and never typed (D20).
 */
import type { TemporalServer } from '../../temporal/server-address.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import type { Shell } from '../../host/shell.ts';
import { type Flags, TEMPORAL_ADDRESS } from '../command-context.ts';

export interface ServerFlags extends Flags {
  readonly address?: string;
  readonly namespace?: string;
}

/** @throws CliError when the configuration has errors */
export async function serverOf(shell: Shell, flags: ServerFlags): Promise<TemporalServer> {
  return serverIn(await openDeployment(shell, { path: flags.config, startsProxy: false }), flags);
}

export function serverIn({ engine }: DeploymentConfig, flags: ServerFlags): TemporalServer {
  const { address, namespace, tls, apiKey } = engine.temporal;
  return {
    address: flags.address ?? address ?? TEMPORAL_ADDRESS,
    namespace: flags.namespace ?? namespace,
    ...(tls === null ? {} : { tls }),
    ...(apiKey === null ? {} : { apiKey }),
  };
}
