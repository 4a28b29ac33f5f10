/**
 * A node of a real API server that runs pods as processes in namespaces, with a kubelet's part of the API.
 * Owns the life of the pods of one namespace, learned by polling, and the way to their logs. Volumes and
 * secrets are read just before a pod starts, as a kubelet does.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import type { Cluster, ClusterApi } from '../../../runtimes/kubernetes/cluster.ts';
import type { LocalCluster } from '../../../scripts/local-cluster.ts';
import { ApiRefusal } from './fake-api/api-object.ts';
import type { ApiObject } from './fake-api/api-object.ts';
import type { ContainerEnd, PodRunner, RunningPod } from './fake-api/kubelet.ts';
import type { ObjectStore } from './fake-api/object-store.ts';
import { bindTo, releaseVolumes } from './local-controllers.ts';

const POLL_MS = 25;

export interface ProcessNodeOptions {
  readonly cluster: Cluster;
  readonly certificate: LocalCluster['certificate'];
  /** Receives what this node has read of the API. */
  readonly runnerOf: (read: () => Pick<ObjectStore, 'get'>) => PodRunner;
}

export interface ProcessNode {
  /** Null: no volume of that name was seen. */
  volumeUid(name: string): string | null;
  close(): Promise<void>;
}

export async function startProcessNode(options: ProcessNodeOptions): Promise<ProcessNode> {
  const node = new Node(options);
  await node.open();
  return node;
}

class Node implements ProcessNode {
  readonly #cluster: Cluster;
  readonly #runner: PodRunner;
  readonly #name: string;
  readonly #objects = new Map<string, ApiObject>();
  readonly #volumes = new Map<string, string>();
  readonly #pods = new Map<
    string,
    { name: string; running: Promise<RunningPod | null>; isEnding: boolean }
  >();
  readonly #work = new Set<Promise<unknown>>();
  readonly #logs;
  readonly #stopped = new AbortController();
  #looking: Promise<void> = Promise.resolve();

  constructor({ cluster, certificate, runnerOf }: ProcessNodeOptions) {
    this.#cluster = cluster;
    this.#name = `node-${cluster.namespace}`;
    this.#runner = runnerOf(() => ({ get: (resource, name) => this.#read(resource, name) }));
    const [cert, key] = [readFileSync(certificate.cert), readFileSync(certificate.key)];
    this.#logs = createServer({ cert, key }, (request, response) => {
      const [, pod = ''] = /^\/containerLogs\/[^/]+\/([^/]+)\//.exec(request.url ?? '') ?? [];
      response.end(this.#runner.log(pod));
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#logs.listen(0, '127.0.0.1', resolve));
    const { port: Port } = this.#logs.address() as AddressInfo;
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port } },
    };
    await this.#ask(async ({ core, client }) => {
      await core.createNode({ body: { metadata: { name: this.#name } } });
      const merge = client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch);
      await core.patchNodeStatus({ name: this.#name, body: { status } }, merge);
    });
    this.#looking = this.#run();
  }

  volumeUid(name: string): string | null {
    return this.#volumes.get(name) ?? null;
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#looking;
    for (const { running } of this.#pods.values()) await (await running)?.stop(0);
    await Promise.all([...this.#work]);
    this.#logs.closeAllConnections();
    await new Promise((resolve) => this.#logs.close(resolve));
  }

  #ask<T>(work: (api: ClusterApi) => Promise<T>): Promise<T> {
    return this.#cluster.ask('do what a node does', work);
  }

  #read(resource: string, name: string): ApiObject {
    const found = this.#objects.get(`${resource} ${name}`);
    if (found === undefined) throw new ApiRefusal(404, 'NotFound', `${resource} "${name}" not found`);
    return found;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      // Other clients change what was just read: the next poll sees it.
      await this.#ask((api) => this.#look(api)).catch(() => undefined);
      await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(api: ClusterApi): Promise<void> {
    const { namespace } = this.#cluster;
    const pods = (await api.core.listNamespacedPod({ namespace })).items;
    for (const pod of pods) {
      if (pod.spec?.nodeName === undefined) await bindTo(api, pod, this.#name);
      else this.#see(pod);
    }
    const there = new Set(pods.map(({ metadata }) => metadata?.uid));
    for (const [uid, { running }] of this.#pods) {
      if (there.has(uid)) continue;
      this.#pods.delete(uid);
      this.#do(running.then((pod) => pod?.stop(0)));
    }
    const volumes = await releaseVolumes(api, namespace, pods);
    for (const [name, uid] of volumes) this.#volumes.set(name, uid);
    for (const [name, uid] of this.#volumes) {
      if (volumes.get(name) === uid) continue;
      this.#volumes.delete(name);
      this.#do(this.#runner.removeVolume(uid));
    }
  }

  #see(pod: V1Pod): void {
    const { name = '', uid = '', deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata ?? {};
    const known = this.#pods.get(uid);
    if (known === undefined) {
      if (deletionTimestamp !== undefined) this.#do(this.#confirmGone(name, uid));
      else this.#pods.set(uid, { name, running: this.#start(pod), isEnding: false });
    } else if (deletionTimestamp !== undefined && !known.isEnding) {
      known.isEnding = true;
      const stopped = known.running.then((one) => one?.stop(deletionGracePeriodSeconds * 1_000));
      this.#do(stopped.then(() => this.#confirmGone(name, uid)));
    }
  }

  #do(promise: Promise<unknown>): void {
    const settled = promise.catch(() => undefined).finally(() => this.#work.delete(settled));
    this.#work.add(settled);
  }

  /** Null: its preparation failed, and its status says so. */
  async #start(pod: V1Pod): Promise<RunningPod | null> {
    try {
      await this.#fetch(pod);
      const running = await this.#runner.run(pod as unknown as ApiObject);
      const state = { running: { startedAt: new Date().toISOString() } };
      await this.#setStatus(pod, {
        phase: 'Running',
        podIP: running.address,
        containerStatuses: [statusOf(pod, state)],
      });
      // In this order: what has ended never runs again.
      this.#do(running.ended.then((end) => this.#setEnded(pod, end, '')));
      return running;
    } catch (error) {
      await this.#setEnded(pod, { exitCode: 1, reason: 'Error' }, String(error)).catch(() => undefined);
      return null;
    }
  }

  async #fetch({ spec }: V1Pod): Promise<void> {
    const { namespace } = this.#cluster;
    await this.#ask(async ({ core }) => {
      for (const { persistentVolumeClaim: claim, secret } of spec?.volumes ?? []) {
        if (claim !== undefined) {
          const name = claim.claimName;
          const found = await core.readNamespacedPersistentVolumeClaim({ name, namespace });
          this.#objects.set(`persistentvolumeclaims ${name}`, found as unknown as ApiObject);
        }
        if (secret?.secretName !== undefined) await this.#fetchSecret(core, secret.secretName);
      }
      const variables = spec?.containers[0]?.env ?? [];
      for (const { valueFrom } of variables)
        if (valueFrom?.secretKeyRef?.name !== undefined)
          await this.#fetchSecret(core, valueFrom.secretKeyRef.name);
    });
  }

  async #fetchSecret(core: ClusterApi['core'], name: string): Promise<void> {
    const found = await core.readNamespacedSecret({ name, namespace: this.#cluster.namespace });
    this.#objects.set(`secrets ${name}`, found as unknown as ApiObject);
  }

  #setEnded(pod: V1Pod, { exitCode, reason }: ContainerEnd, message: string): Promise<void> {
    return this.#setStatus(pod, {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      ...(message === '' ? {} : { message }),
      containerStatuses: [statusOf(pod, { terminated: { exitCode, reason } })],
    });
  }

  async #setStatus({ metadata }: V1Pod, status: object): Promise<void> {
    const { name = '', uid = '' } = metadata ?? {};
    const { namespace } = this.#cluster;
    await this.#ask(({ core, client }) =>
      core.patchNamespacedPodStatus(
        { name, namespace, body: { metadata: { uid }, status } },
        client.setHeaderOptions('Content-Type', client.PatchStrategy.MergePatch),
      ),
    );
  }

  async #confirmGone(name: string, uid: string): Promise<void> {
    const { namespace } = this.#cluster;
    // All in the body: beside one, a server does not read the query.
    const body = { gracePeriodSeconds: 0, preconditions: { uid } };
    await this.#ask(({ core }) => core.deleteNamespacedPod({ name, namespace, body }));
  }
}

function statusOf({ spec }: V1Pod, state: object): object {
  const { name = '', image = '' } = spec?.containers[0] ?? {};
  return { name, image, imageID: '', restartCount: 0, ready: 'running' in state, state };
}
