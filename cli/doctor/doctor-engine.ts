/**
 * Whether the engine on Temporal can be used: the server, its namespace, and the built workflows.
 * Owns the probes of `parley doctor` about it; must not start or register anything.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import type { Finding } from '../../host/finding.ts';

/** Nothing for the embedded engine, which needs nothing. */
export async function checkEngine({ engine }: DeploymentConfig): Promise<readonly Finding[]> {
  if (engine.kind === 'embedded') return [];
  const { namespace, address } = engine.temporal;
  return [
    await probe('workflows', async () => {
      const { findWorkflowBundle } = await import('../../host/engines/workflow-bundle.ts');
      return `build ${findWorkflowBundle().buildId}`;
    }),
    await probe('engine', async () => {
      if (address === null) return 'Temporal; no server is named, so a command starts one for itself';
      const { checkServer } = await import('../../temporal/check-server.ts');
      const { namedServer } = await import('../../host/engines/temporal-server.ts');
      await checkServer(namedServer(engine.temporal, address));
      return `Temporal at ${address}, namespace ${namespace}`;
    }),
  ];
}

async function probe(check: string, ask: () => Promise<string>): Promise<Finding> {
  try {
    return { check, status: 'ok', detail: await ask(), remedy: null };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const remedy = error.remedy ?? `parley explain ${error.code} tells more`;
    return { check, status: 'failed', detail: error.message, remedy };
  }
}
