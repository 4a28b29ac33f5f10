/**
 * What an API server lacks without the rest of a cluster: pods are placed, something answers at their addresses, and a
 * volume that is to go goes when no pod has it any more.
 * Owns these three for one namespace, each by looking again and again; kwok says when pods run and when they are gone.
 */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node';
import type { Cluster, ClusterApi } from '../../../runtimes/kubernetes/cluster.ts';

export const LOCAL_NODE = 'node-1';
const PROTECTION = 'kubernetes.io/pvc-protection';
const AGENT_PORT = 8_000;
const POLL_MS = 50;

export interface LocalControllers {
  /** What `/health` answers in every pod. */
  health: number;
  close(): Promise<void>;
}

export function startControllers(cluster: Cluster): LocalControllers {
  const servers = new Map<string, Server>();
  const podAt = new Map<string, string>();
  const controllers: LocalControllers = { health: 200, close };
  const stopped = new AbortController();
  const working = run();

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      // Other clients change what was just read: the next poll sees it.
      await cluster.ask('look around', (api) => lookAround(api)).catch(() => undefined);
      await pause(POLL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  async function lookAround(api: ClusterApi): Promise<void> {
    const { namespace } = cluster;
    const pods = (await api.core.listNamespacedPod({ namespace })).items;
    for (const pod of pods) {
      if (pod.spec?.nodeName === undefined) await bindTo(api, pod, LOCAL_NODE);
      else if (pod.status?.podIP !== undefined) await serve(pod.metadata?.name ?? '', pod.status.podIP);
    }
    const addresses = new Set(pods.map(({ status }) => status?.podIP));
    for (const [address, server] of servers) if (!addresses.has(address)) end(address, server);
    await releaseVolumes(api, namespace, pods);
  }

  async function serve(pod: string, address: string): Promise<void> {
    // An address is given out again when its pod is gone.
    podAt.set(address, pod);
    if (servers.has(address)) return;
    const server = createServer((request, response) => {
      const status = request.url === '/health' ? controllers.health : 200;
      response.writeHead(status).end(`workspace of ${podAt.get(address) ?? ''}`);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(AGENT_PORT, address, resolve);
    });
    servers.set(address, server);
  }

  function end(address: string, server: Server): void {
    servers.delete(address);
    server.closeAllConnections();
    server.close();
  }

  async function close(): Promise<void> {
    stopped.abort();
    await working;
    for (const [address, server] of servers) end(address, server);
  }

  return controllers;
}

/** What a scheduler does when there is one node. */
export async function bindTo({ core }: ClusterApi, { metadata }: V1Pod, node: string): Promise<void> {
  const { name = '', namespace = '' } = metadata ?? {};
  const target = { apiVersion: 'v1', kind: 'Node', name: node };
  await core.createNamespacedPodBinding({ name, namespace, body: { metadata: { name }, target } });
}

/** Lets go of volumes that are to go and that no pod has any more; resolves with the ids of all that are there, by name. */
export async function releaseVolumes(
  api: ClusterApi,
  namespace: string,
  pods: readonly V1Pod[],
): Promise<ReadonlyMap<string, string>> {
  const { items } = await api.core.listNamespacedPersistentVolumeClaim({ namespace });
  const used = new Set(pods.flatMap(claimsOf));
  for (const claim of items) if (isFree(claim, used)) await release(api, claim);
  return new Map(items.map(({ metadata }) => [metadata?.name ?? '', metadata?.uid ?? '']));
}

function claimsOf({ spec }: V1Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [claim.claimName],
  );
}

function isFree({ metadata }: V1PersistentVolumeClaim, used: ReadonlySet<string>): boolean {
  const { name = '', deletionTimestamp, finalizers = [] } = metadata ?? {};
  return deletionTimestamp !== undefined && !used.has(name) && finalizers.includes(PROTECTION);
}

async function release({ core, client }: ClusterApi, { metadata }: V1PersistentVolumeClaim): Promise<void> {
  const { name = '', namespace = '', resourceVersion = '', finalizers = [] } = metadata ?? {};
  const kept = finalizers.filter((one) => one !== PROTECTION);
  await core.patchNamespacedPersistentVolumeClaim(
    { name, namespace, body: { metadata: { resourceVersion, finalizers: kept } } },
    client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch),
  );
}
