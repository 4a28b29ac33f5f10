/**
 * The builds of a deployment as the server knows them: which one is current, and how much is left on each.
 * Owns the questions and their answers in our words; must not change anything.
 */
import { tsToMs } from '@temporalio/common/lib/time.js';
import { GRPC, grpcCode } from '../grpc-code.ts';
import { ask, type ServerConnection } from '../server-client.ts';
import type { WorkerVersion } from './worker-version.ts';

/** A namespace, asked over a connection. */
export interface AskedNamespace {
  readonly connection: ServerConnection;
  readonly namespace: string;
}

/**
 * `current` takes all new work, `ramping` a part of it, `waiting` has never had any; `draining` has open entities left,
 * `drained` none, as far as the server has looked: it does so every few minutes.
 */
export type BuildStatus = 'current' | 'ramping' | 'waiting' | 'draining' | 'drained';

export interface Build {
  readonly buildId: string;
  readonly status: BuildStatus;
  /** Epoch milliseconds; when the first worker of it asked for work. */
  readonly createdAt: number;
  /** Entities whose open run is on it, counted now. */
  readonly open: number;
}

/** Builds of workers that Temporal knows. */
export interface DeploymentBuilds {
  /** Null when unversioned workers have the work, or none. */
  readonly current: string | null;
  /** Newest first; empty when no worker of the deployment was ever seen. */
  readonly builds: readonly Build[];
}

/** @throws the error of gRPC */
export async function findBuilds(at: AskedNamespace, deployment: string): Promise<DeploymentBuilds> {
  const info = await describe(at, deployment);
  const current = info?.routingConfig?.currentDeploymentVersion?.buildId || null;
  const ramping = info?.routingConfig?.rampingDeploymentVersion?.buildId || null;
  const builds: Build[] = [];
  for (const summary of info?.versionSummaries ?? []) {
    const buildId = summary.deploymentVersion?.buildId ?? '';
    builds.push({
      buildId,
      status:
        buildId === current
          ? 'current'
          : buildId === ramping
            ? 'ramping'
            : restingStatus(summary.drainageInfo?.status ?? DRAINAGE.unspecified),
      createdAt: tsToMs(summary.createTime),
      open: await countOpen(at, { deployment, buildId }),
    });
  }
  return { current, builds: builds.sort((a, b) => b.createdAt - a.createdAt) };
}

/** Numbers of the API's `VersionDrainageStatus`. */
const DRAINAGE = { unspecified: 0, draining: 1, drained: 2 } as const;

function restingStatus(drainage: number): BuildStatus {
  if (drainage === DRAINAGE.draining) return 'draining';
  return drainage === DRAINAGE.drained ? 'drained' : 'waiting';
}

async function describe({ connection, namespace }: AskedNamespace, deploymentName: string) {
  try {
    const answer = await ask(connection, () =>
      connection.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
    );
    return answer.workerDeploymentInfo ?? null;
  } catch (error) {
    if (grpcCode(error) === GRPC.notFound) return null;
    throw error;
  }
}

async function countOpen({ connection, namespace }: AskedNamespace, version: WorkerVersion): Promise<number> {
  const query = openOn(version);
  const { count } = await ask(connection, () =>
    connection.workflowService.countWorkflowExecutions({ namespace, query }),
  );
  return Number(count ?? 0);
}

/** The visibility query for what is open on a build. */
export function openOn({ deployment, buildId }: WorkerVersion): string {
  return `TemporalWorkerDeploymentVersion = "${deployment}:${buildId}" AND ExecutionStatus = "Running"`;
}
