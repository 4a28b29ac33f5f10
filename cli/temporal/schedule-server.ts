/**
 * The schedules of the server that a command means.
 * Owns the connection and its end; a failed call becomes one sentence with a remedy.
 */
import type { Schedules } from '../../temporal/schedules/schedules.ts';
import { converterOf, knownSealKey } from '../../host/engines/temporal-codec.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import type { Shell } from '../../host/shell.ts';
import { serverIn, type ServerFlags } from './server-options.ts';

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden, not_found */
export async function onSchedules<Answer>(
  shell: Shell,
  flags: ServerFlags,
  question: (schedules: Schedules) => Promise<Answer>,
): Promise<Answer> {
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  const server = serverIn(config, flags);
  const { Connection } = await import('@temporalio/client');
  const { checkServer } = await import('../../temporal/check-server.ts');
  const { Schedules } = await import('../../temporal/schedules/schedules.ts');
  const { connectionOptions } = await import('../../temporal/server-address.ts');
  const { serverProblem } = await import('../../temporal/server-problem.ts');
  await checkServer(server);
  const connection = Connection.lazy(connectionOptions(server));
  try {
    const { namespace } = server;
    const { env } = process;
    const dataConverter = converterOf({ env, sealKey: knownSealKey(env, config.dataDir) }, () => undefined);
    return await question(new Schedules({ connection, namespace, dataConverter }));
  } catch (error) {
    throw serverProblem(server, error);
  } finally {
    await connection.close();
  }
}
