/**
 * Which build of which deployment the workers of this process are, and whether it has the work.
 * Owns that the first build takes the work by itself, and what is said when another one has it.
 */
import type { EngineParts } from './host-engine.ts';
import type { AskedNamespace } from '../../temporal/versioning/builds.ts';
import { promoteFirst } from '../../temporal/versioning/promote.ts';
import type { WorkerVersion } from '../../temporal/versioning/worker-version.ts';
import type { WorkflowBundle } from './workflow-bundle.ts';

/** Null when workers have no versions; a server that lives for one command has no other build to hand over to. */
export function versionOf(
  { config }: Pick<EngineParts, 'config'>,
  bundle: WorkflowBundle,
): WorkerVersion | null {
  const { versioning, address } = config.engine.temporal;
  if (versioning === null || address === null) return null;
  return { deployment: versioning.deployment, buildId: versioning.buildId ?? bundle.buildId };
}

/**
 * To be called once the workers ask for work.
 * @throws ParleyError engine_misconfigured when the server does not come to know them, else the error of gRPC
 */
export async function takeWork(
  at: AskedNamespace,
  version: WorkerVersion,
  onNotice: (text: string) => void,
): Promise<void> {
  if (await promoteFirst(at, version)) return;
  const { deployment, buildId } = version;
  onNotice(
    `build ${buildId} is not the current one of deployment ${deployment} and takes nothing new; ` +
      `to change that: parley temporal promote ${buildId}`,
  );
}
