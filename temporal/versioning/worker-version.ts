/**
 * Which build a worker is, as Temporal names it: a deployment, and a build of it.
 * Owns how a build gets its id, and that entities stay on the build where their run began.
 */
import type { WorkerOptions } from '@temporalio/worker';
import { ParleyError } from '../../core/parley-error.ts';

/** A build of a deployment. */
export interface WorkerVersion {
  readonly deployment: string;
  readonly buildId: string;
}

/** As much of a hash as distinguishes the builds of one deployment. */
const HASH_LENGTH = 12;

/**
 * What a build is called: the program's version for people, and the hash of its workflows, because that is what a
 * history depends on. The same bundle in the same program has the same id everywhere.
 */
export function buildIdOf({
  program,
  bundleHash,
}: {
  /** Version of Parley. */
  readonly program: string;
  /** SHA-256 of the bundle of workflows/, hex digits. */
  readonly bundleHash: string;
}): string {
  return `${program}-${bundleHash.slice(0, HASH_LENGTH)}`;
}

/**
 * For the options of every worker of a process, so that a run finds the activities of its own build.
 * A build takes work only once it is the current one.
 * @throws ParleyError config_invalid for a name that Temporal does not take
 */
export function versionedWorkers(version: WorkerVersion): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  const { deployment, buildId } = version;
  if (deployment === '' || /[.:]/.test(deployment)) {
    throw new ParleyError(
      'config_invalid',
      `Cannot call a deployment "${deployment}": it has "." or ":" in it`,
      {
        remedy: 'use letters, digits, "-" and "_"',
      },
    );
  }
  return {
    workerDeploymentOptions: {
      version: { deploymentName: deployment, buildId },
      useWorkerVersioning: true,
      // A run is finished, or continued as new, by the code that began it: no build replays another one's history.
      defaultVersioningBehavior: 'PINNED',
    },
  };
}
