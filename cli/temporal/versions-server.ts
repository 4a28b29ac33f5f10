/**
 * What the commands about builds share: their options, and the server that they ask.
 * Owns the light connection and its end; must not load the worker's package.
 */
import { Option, type Command } from 'commander';
import type { Connection } from '@temporalio/client';
import { configOption, jsonOption } from '../command-context.ts';
import type { Shell } from '../../host/shell.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { addressOption, namespaceOption, serverIn, type ServerFlags } from './server-options.ts';

export interface VersionFlags extends ServerFlags {
  readonly deployment?: string;
  readonly json?: true;
}

export interface AskedServer {
  readonly connection: Connection;
  readonly namespace: string;
  /** Deployment of the workers that is meant. */
  readonly deployment: string;
}

/** Meant when neither the command nor the deployment's file names one. */
const DEPLOYMENT_DEFAULT = 'parley';

export function withServerOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--deployment <name>',
        `deployment of the workers (default: engine.versioning.deployment, or ${DEPLOYMENT_DEFAULT})`,
      ),
    )
    .addOption(addressOption())
    .addOption(namespaceOption())
    .addOption(jsonOption())
    .addOption(configOption());
}

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden */
export async function askServer<Answer>(
  shell: Shell,
  flags: VersionFlags,
  question: (server: AskedServer) => Promise<Answer>,
): Promise<Answer> {
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  const server = serverIn(config, flags);
  const deployment = flags.deployment ?? config.engine.temporal.versioning?.deployment ?? DEPLOYMENT_DEFAULT;
  const { checkServer } = await import('../../temporal/check-server.ts');
  const { openServerClient } = await import('../../temporal/server-client.ts');
  const { serverProblem } = await import('../../temporal/server-problem.ts');
  await checkServer(server);
  const connection = openServerClient(server);
  try {
    return await question({ connection, namespace: server.namespace, deployment });
  } catch (error) {
    throw serverProblem(server, error);
  } finally {
    await connection.close();
  }
}
