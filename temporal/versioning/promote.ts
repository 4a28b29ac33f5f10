/**
 * Makes a build the current one of its deployment: all new work, and every entity that moves on, goes to it.
 * Owns what can be wrong with that; open runs stay where they are until they are asked to move on.
 */
import { randomUUID } from 'node:crypto';
import { ParleyError } from '../../core/parley-error.ts';
import { GRPC, grpcCode, grpcDetails } from '../grpc-code.ts';
import { ask } from '../server-client.ts';
import { findBuilds, type AskedNamespace } from './builds.ts';
import type { WorkerVersion } from './worker-version.ts';

export interface Promotion {
  /** Null when unversioned workers had the work, or none. */
  readonly previous: string | null;
  /** False when it was the current one already. */
  readonly changed: boolean;
}

/** A worker that has just started is known to the server after some seconds. */
const KNOWN_MS_MAX = 20_000;
const KNOWN_POLL_MS = 250;

/** The server keeps this name beside the change. */
const IDENTITY = 'parley';

/** @throws ParleyError engine_misconfigured for a build without workers, else the error of gRPC */
export async function promote(at: AskedNamespace, version: WorkerVersion): Promise<Promotion> {
  const { deployment, buildId } = version;
  const { current, builds } = await findBuilds(at, deployment);
  if (current === buildId) return { previous: current, changed: false };
  if (!builds.some((build) => build.buildId === buildId)) throw neverSeen(version);
  try {
    await setCurrent(at, version);
    return { previous: current, changed: true };
  } catch (error) {
    throw refusal(version, error);
  }
}

/**
 * For a deployment that has no current build: its first one becomes current as soon as the server knows its workers.
 * One that has a current build keeps it, and the answer is false. Two processes may do it at once.
 * @throws ParleyError engine_misconfigured when its workers are not known after 20 s, else the error of gRPC
 */
export async function promoteFirst(at: AskedNamespace, version: WorkerVersion): Promise<boolean> {
  const untilMs = Date.now() + KNOWN_MS_MAX;
  for (;;) {
    const { current } = await findBuilds(at, version.deployment);
    if (current !== null) return current === version.buildId;
    try {
      return (await promote(at, version)).changed;
    } catch (error) {
      if (!(error instanceof ParleyError) || Date.now() > untilMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, KNOWN_POLL_MS));
  }
}

async function setCurrent(at: AskedNamespace, { deployment, buildId }: WorkerVersion): Promise<void> {
  const { connection, namespace } = at;
  await ask(connection, () =>
    connection.workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName: deployment,
      buildId,
      // Servers before 1.30 know only the spelling with both in one.
      version: `${deployment}.${buildId}`,
      identity: `${IDENTITY}-${randomUUID()}`,
    }),
  );
}

function neverSeen({ deployment, buildId }: WorkerVersion): ParleyError {
  const message = `Cannot promote build "${buildId}": no worker of it was ever seen in deployment "${deployment}"`;
  return new ParleyError('engine_misconfigured', message, {
    remedy: 'start a worker of that build, then see "parley temporal versions"',
  });
}

/** The server refuses a build that lacks workers for a queue of the current one. */
function refusal({ buildId }: WorkerVersion, cause: unknown): unknown {
  if (grpcCode(cause) !== GRPC.failedPrecondition) return cause;
  const because = grpcDetails(cause).replaceAll(/\s+/g, ' ').trim();
  return new ParleyError('engine_misconfigured', `Cannot promote build "${buildId}": ${because}`, {
    cause,
    remedy: 'start workers of that build for every queue, then promote it again',
  });
}
