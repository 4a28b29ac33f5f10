/**
 * The scheduler, the node and the volume controller of the stand-in cluster.
 * Owns the life of a pod: placed, its image there, its containers running, asked to end, gone; and when a volume goes.
 * What a container is, its runner decides.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiObject, ContainerStatus, PodStatus } from './api-object.ts';
import type { ObjectStore, StoreEvent } from './object-store.ts';

const NODE = 'node-1';
const PROTECTION = 'kubernetes.io/pvc-protection';

/** What is known of a container that ran. */
export interface ContainerEnd {
  readonly exitCode: number;
  readonly reason: string;
}

export interface RunningPod {
  readonly address: string;
  readonly ended: Promise<ContainerEnd>;
  /** Asks it to end, and kills it after the grace. */
  stop(graceMs: number): Promise<void>;
}

export interface PodRunner {
  /** @throws Error its preparation failed */
  run(pod: ApiObject): Promise<RunningPod>;
  log(pod: string): string;
  /** The files of a volume go with it. */
  removeVolume(uid: string): Promise<void>;
}

export interface Kubelet {
  /** No pod is placed while this is a sentence. */
  unschedulable: string | null;
  /** Images that can be had; null: all. */
  images: ReadonlySet<string> | null;
  /** While true no pod that was asked to end is confirmed to be gone. */
  isAway: boolean;
  /** Ends the main container as the kernel or the node would. */
  end(pod: string, end: ContainerEnd, status?: Partial<PodStatus>): void;
  close(): Promise<void>;
}

export function startKubelet(store: ObjectStore, runner: PodRunner): Kubelet {
  return new Node(store, runner);
}

class Node implements Kubelet {
  unschedulable: string | null = null;
  images: ReadonlySet<string> | null = null;
  isAway = false;
  readonly #store: ObjectStore;
  readonly #runner: PodRunner;
  readonly #running = new Map<string, RunningPod>();
  readonly #starting = new Set<string>();
  readonly #ending = new Set<string>();
  readonly #work = new Set<Promise<unknown>>();
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor(store: ObjectStore, runner: PodRunner) {
    this.#store = store;
    this.#runner = runner;
    // After the change is whole: a listener must not change what is being changed.
    this.#stopListening = store.listen((event) => queueMicrotask(() => this.#see(event)));
  }

  end(name: string, end: ContainerEnd, status: Partial<PodStatus> = {}): void {
    const { uid } = this.#store.get('pods', name).metadata;
    const pod = this.#running.get(uid);
    this.#finish(name, uid, { ...this.#ended(name, end), ...status });
    if (pod !== undefined) this.#do(pod.stop(0));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    await Promise.all([...this.#running.values()].map((pod) => pod.stop(0)));
    await Promise.all([...this.#work]);
  }

  #see({ type, resource, object }: StoreEvent): void {
    if (this.#isClosed) return;
    const { uid, deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
    const isClaim = resource === 'persistentvolumeclaims';
    if (isClaim && type === 'DELETED') this.#do(this.#runner.removeVolume(uid));
    const isFreed = resource === 'pods' && type === 'DELETED';
    if (isFreed || (isClaim && deletionTimestamp !== undefined)) this.#releaseVolumes();
    if (resource !== 'pods') return;
    // Another node's, if there is one of that name.
    if ((object.spec?.nodeName ?? NODE) !== NODE) return;
    // Removed without a grace: what still runs is not waited for.
    if (type === 'DELETED') this.#do(this.#running.get(uid)?.stop(0) ?? Promise.resolve());
    if (type === 'ADDED') {
      this.#starting.add(uid);
      this.#do(this.#startPod(object).finally(() => this.#starting.delete(uid)));
    } else if (type === 'MODIFIED' && deletionGracePeriodSeconds !== undefined && !this.#ending.has(uid)) {
      this.#ending.add(uid);
      this.#do(this.#endPod(object));
    }
  }

  #do(promise: Promise<unknown>): void {
    const settled = promise.catch(() => undefined).finally(() => this.#work.delete(settled));
    this.#work.add(settled);
  }

  #setStatus(name: string, uid: string, status: Partial<PodStatus>): void {
    if (this.#store.find('pods', name)?.metadata.uid !== uid) return;
    this.#store.change('pods', name, (pod) => (pod.status = { ...pod.status, ...status }));
  }

  #ended(name: string, { exitCode, reason }: ContainerEnd): Partial<PodStatus> {
    const found = this.#store.find('pods', name);
    if (found === null) return {};
    const containerStatuses = [statusOf(found, { terminated: { exitCode, reason } })];
    return { phase: exitCode === 0 ? 'Succeeded' : 'Failed', containerStatuses };
  }

  #finish(name: string, uid: string, status: Partial<PodStatus>): void {
    const phase = this.#store.find('pods', name)?.status?.phase;
    if (phase !== 'Failed' && phase !== 'Succeeded') this.#setStatus(name, uid, status);
  }

  async #startPod(pod: ApiObject): Promise<void> {
    const { name, uid } = pod.metadata;
    const problem = schedulingProblem(this.#store, this, pod);
    if (problem !== null) {
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: problem };
      this.#setStatus(name, uid, { phase: 'Pending', conditions: [condition] });
      return;
    }
    this.#store.change('pods', name, (found) => (found.spec = { ...found.spec, nodeName: NODE }));
    this.#setStatus(name, uid, { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] });
    const waiting = containerProblem(this.#store, this, pod);
    if (waiting !== null) this.#setStatus(name, uid, { containerStatuses: [statusOf(pod, { waiting })] });
    else await this.#run(pod);
  }

  async #run(pod: ApiObject): Promise<void> {
    const { name, uid } = pod.metadata;
    const started = await this.#runner.run(pod).catch((error: unknown) => String(error));
    if (typeof started === 'string') {
      this.#finish(name, uid, { ...this.#ended(name, { exitCode: 1, reason: 'Error' }), message: started });
      return;
    }
    if (this.#store.find('pods', name)?.metadata.uid !== uid) return await started.stop(0);
    this.#running.set(uid, started);
    this.#do(
      started.ended.then((end) => {
        this.#running.delete(uid);
        this.#finish(name, uid, this.#ended(name, end));
      }),
    );
    if (this.#store.find('pods', name)?.metadata.deletionTimestamp !== undefined) return;
    const state = { running: { startedAt: new Date().toISOString() } };
    this.#finish(name, uid, {
      phase: 'Running',
      podIP: started.address,
      containerStatuses: [statusOf(pod, state)],
    });
  }

  async #endPod(pod: ApiObject): Promise<void> {
    const { name, uid, deletionGracePeriodSeconds = 30 } = pod.metadata;
    while (this.#starting.has(uid) || (this.isAway && !this.#isClosed)) await pause(5);
    const found = this.#running.get(uid);
    await found?.stop(deletionGracePeriodSeconds * 1_000);
    await found?.ended;
    if (this.#store.find('pods', name)?.metadata.uid === uid) this.#store.drop('pods', name);
  }

  /** A volume that is to go goes when no pod has it any more. */
  #releaseVolumes(): void {
    const used = new Set(this.#store.all('pods').flatMap((pod) => claimsOf(pod)));
    for (const { metadata } of this.#store.all('persistentvolumeclaims')) {
      const { name, deletionTimestamp, finalizers = [] } = metadata;
      if (deletionTimestamp === undefined || used.has(name) || !finalizers.includes(PROTECTION)) continue;
      this.#store.change('persistentvolumeclaims', name, (claim) => {
        claim.metadata.finalizers = finalizers.filter((one) => one !== PROTECTION);
      });
    }
  }
}

function schedulingProblem(store: ObjectStore, kubelet: Kubelet, pod: ApiObject): string | null {
  if (kubelet.unschedulable !== null) return kubelet.unschedulable;
  for (const claim of claimsOf(pod)) {
    const found = store.find('persistentvolumeclaims', claim);
    if (found === null) return `persistentvolumeclaim "${claim}" not found`;
    if (found.metadata.deletionTimestamp !== undefined)
      return `persistentvolumeclaim "${claim}" is being deleted`;
  }
  return null;
}

function containerProblem(
  store: ObjectStore,
  { images }: Kubelet,
  { spec }: ApiObject,
): { readonly reason: string; readonly message: string } | null {
  const image = spec?.containers?.[0]?.image ?? '';
  if (images !== null && !images.has(image)) {
    return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` };
  }
  const named = [
    ...(spec?.volumes ?? []).flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName])),
    ...(spec?.containers?.[0]?.env ?? []).flatMap(({ valueFrom }) =>
      valueFrom === undefined ? [] : [valueFrom.secretKeyRef.name],
    ),
  ];
  const missing = named.find((name) => store.find('secrets', name) === null);
  if (missing === undefined) return null;
  return { reason: 'CreateContainerConfigError', message: `secret "${missing}" not found` };
}

function claimsOf({ spec }: ApiObject): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [claim.claimName],
  );
}

function statusOf({ spec }: ApiObject, state: ContainerStatus['state']): ContainerStatus {
  const { name = '', image = '' } = spec?.containers?.[0] ?? {};
  return { name, image, imageID: '', restartCount: 0, ready: state.running !== undefined, state };
}
