/**
 * A cluster as a test sees it, whichever it is: the stand-in, or a real API server.
 * Owns what both must do beside the API itself; a suite that takes only this runs on both.
 */
import { createKubernetesRuntime } from '../../../runtimes/kubernetes/kubernetes-runtime.ts';
import { kubernetesCluster } from '../../../runtimes/kubernetes/cluster.ts';
import type { Cluster, ClusterApi } from '../../../runtimes/kubernetes/cluster.ts';
import type { KubernetesRuntimeOptions } from '../../../runtimes/kubernetes/options.ts';
import type { SandboxRuntime } from '../../../ports/sandbox-runtime.ts';
import { KWOK_LABEL } from '../../../scripts/local-cluster.ts';
import type { LocalCluster } from '../../../scripts/local-cluster.ts';
import { newId } from '../../contract/runtime-suite.ts';
import { createScriptedHarness, runtimeOptions } from './kubernetes-harness.ts';
import { LOCAL_NODE, startControllers } from './local-controllers.ts';

export type Countable = 'pods' | 'persistentvolumeclaims' | 'secrets';

export interface ClusterHarness {
  readonly options: KubernetesRuntimeOptions;
  readonly runtime: SandboxRuntime;
  /** A second process over the same cluster. */
  reopen(): SandboxRuntime;
  /** The API, as any client with rights uses it. */
  readonly cluster: Cluster;
  /** What `/health` answers in every pod from now on. */
  answerWith(status: number): void;
  /** Lets the namespace have so many, and no more. */
  limitTo(resource: Countable, count: number): Promise<void>;
  /** A runtime whose account may not even read. */
  powerless(): SandboxRuntime;
  /** Its node ends the pod, with that reason. */
  evict(pod: string, message: string): Promise<void>;
  close(): Promise<void>;
}

export async function standInCluster(): Promise<ClusterHarness> {
  const harness = await createScriptedHarness();
  const { options, runtime, api, kubelet, runner } = harness;
  return {
    ...{ options, runtime, cluster: kubernetesCluster(options) },
    reopen: () => harness.reopen(),
    answerWith: (status) => void (runner.health = status),
    limitTo: (resource, count) => Promise.resolve(void (api.routes.quota = { [resource]: count })),
    powerless() {
      api.routes.forbidden.add('get persistentvolumeclaims');
      return runtime;
    },
    evict(pod, message) {
      kubelet.end(pod, { exitCode: 137, reason: 'Error' }, { reason: 'Evicted', message });
      return Promise.resolve();
    },
    close: () => harness.close(),
  };
}

/** A namespace of its own on nodes of kwok, in which no pod below the level `restricted` is let in. */
export async function realCluster(local: LocalCluster): Promise<ClusterHarness> {
  const namespace = `test-${newId().slice(0, 12)}`;
  const options = runtimeOptions({ kubeconfig: local.kubeconfig(namespace), namespace });
  const cluster = kubernetesCluster(options);
  await cluster.ask('prepare the cluster', (api) => prepare(api, namespace));
  const controllers = startControllers(cluster);
  return {
    ...{ options, cluster, runtime: createKubernetesRuntime(options) },
    reopen: () => createKubernetesRuntime(options),
    answerWith: (status) => void (controllers.health = status),
    limitTo: (resource, count) =>
      cluster.ask('bound the namespace', (api) => bound(api, { namespace, resource, count })),
    powerless: () => createKubernetesRuntime({ ...options, kubeconfig: local.powerless(namespace) }),
    async evict(name, message) {
      const status = { phase: 'Failed', reason: 'Evicted', message };
      await cluster.ask('evict a pod', ({ core, client }) =>
        core.patchNamespacedPodStatus(
          { name, namespace, body: { status } },
          client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch),
        ),
      );
    },
    close: () => controllers.close(),
  };
}

export async function makeNamespace({ core }: ClusterApi, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await core.createNamespace({ body: { metadata: { name, labels } } });
}

async function prepare(api: ClusterApi, namespace: string): Promise<void> {
  const { core } = api;
  await makeNamespace(api, namespace);
  // The node is there once for all namespaces.
  const node = core.createNode({ body: { metadata: { name: LOCAL_NODE, labels: { [KWOK_LABEL]: '' } } } });
  await node.catch((error: unknown) => {
    if (!String(error).includes('already exists')) throw error;
  });
}

interface Bound {
  readonly namespace: string;
  readonly resource: Countable;
  readonly count: number;
}

/** A controller counts what is there, and there is none: the first count is made by hand. */
async function bound({ core, client }: ClusterApi, { namespace, resource, count }: Bound): Promise<void> {
  const hard = { [resource]: String(count) };
  const name = 'sandboxes';
  await core.createNamespacedResourceQuota({ namespace, body: { metadata: { name }, spec: { hard } } });
  await core.patchNamespacedResourceQuotaStatus(
    { name, namespace, body: { status: { hard, used: { [resource]: '0' } } } },
    client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch),
  );
}
