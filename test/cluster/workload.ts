/**
 * One Deployment or StatefulSet on a cluster, restarted as an administrator does it and killed as a kernel does it.
 * Owns both and the wait until it serves again; must not assert.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { RealCluster } from '../../scripts/real-cluster/real-cluster.ts';

export interface Workload {
  readonly namespace: string;
  /** As kubectl takes it: `statefulset/parley-api`. */
  readonly name: string;
  /** Labels of its pods: `app=gateway`. */
  readonly pods: string;
}

const WAIT = '300s';
const AGAIN_MS = 300_000;
const LOOK_MS = 500;

export async function rolledOut({ kubectl }: RealCluster, { namespace, name }: Workload): Promise<void> {
  await kubectl(['-n', namespace, 'rollout', 'status', name, `--timeout=${WAIT}`]);
}

/** Its pod is ended in order, and made again. */
export async function restart(cluster: RealCluster, workload: Workload): Promise<void> {
  await cluster.kubectl(['-n', workload.namespace, 'rollout', 'restart', workload.name]);
  await rolledOut(cluster, workload);
}

/** Its first program is killed from outside, as by a kernel without memory; the kubelet starts it again. */
export async function kill(cluster: RealCluster, workload: Workload): Promise<void> {
  const before = await runningOf(cluster, workload);
  cluster.kill(before.container);
  for (const until = Date.now() + AGAIN_MS; ; await pause(LOOK_MS)) {
    const now = await runningOf(cluster, workload);
    if (now.container !== before.container && now.isReady) return;
    if (Date.now() > until) throw new Error(`Cannot kill ${workload.name}: it is not ready again`);
  }
}

interface Running {
  readonly container: string;
  readonly isReady: boolean;
}

/** Of the newest pod: an older one may still be about to end. */
async function runningOf({ kubectl }: RealCluster, { namespace, pods }: Workload): Promise<Running> {
  const order = ['--selector', pods, '--sort-by=.metadata.creationTimestamp', '--output', 'json'];
  const { items } = JSON.parse(await kubectl(['-n', namespace, 'get', 'pods', ...order])) as PodList;
  const [status] = items.at(-1)?.status.containerStatuses ?? [];
  const { containerID = '', ready = false } = status ?? {};
  return { container: containerID.replace('containerd://', ''), isReady: ready };
}

interface PodList {
  readonly items: readonly {
    readonly status: {
      readonly containerStatuses?: readonly { readonly containerID?: string; readonly ready?: boolean }[];
    };
  }[];
}
