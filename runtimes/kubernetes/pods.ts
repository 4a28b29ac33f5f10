/**
 * What is done to single pods.
 * Owns the calls and what each answer means; a call that finds its work done is a success, and a pod that is not ours is
 * never touched.
 */
import type { V1Pod, V1Secret } from '@kubernetes/client-node';
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { unless } from './api-errors.ts';
import type { Cluster } from './cluster.ts';
import { GONE_WAIT_MS, LOG_TAIL_LINES, POLL_MS, PAGE_SIZE, STOP_GRACE_S } from './limits.ts';
import { listAll } from './list-all.ts';
import { LABELS, marksOf, selectorOf } from './names.ts';
import { MAIN_CONTAINER, podStateOf, type PodState } from './pod-state.ts';
import type { PodWatch } from './pod-watch.ts';
import { notOurs } from './volume-record.ts';

export interface Pods {
  readonly cluster: Cluster;
  readonly installation: string;
  readonly watch: PodWatch;
}

/** Null when there is none. */
export async function findPod(on: Pods, name: string): Promise<PodState | null> {
  const { namespace } = on.cluster;
  const pod = await on.cluster.ask(`look at pod "${name}"`, (api) =>
    unless(['not_found'], api.core.readNamespacedPod({ name, namespace })),
  );
  return pod === null ? null : podStateOf(on.installation, pod);
}

/** Every pod of this installation, or of one sandbox of it. */
export async function listPods(on: Pods, id: SandboxId | null = null): Promise<readonly PodState[]> {
  const { namespace } = on.cluster;
  const labelSelector = selectorOf(on.installation, id);
  const pods = await on.cluster.ask('list pods', (api) =>
    listAll((_continue) =>
      api.core.listNamespacedPod({
        namespace,
        labelSelector,
        limit: PAGE_SIZE,
        ...(_continue === null ? {} : { _continue }),
      }),
    ),
  );
  return pods.map((pod) => podStateOf(on.installation, pod)).filter(({ marks }) => marks !== null);
}

/**
 * Made, or there already from an attempt whose answer was lost.
 * @throws ParleyError runtime_failed: refused for good, or the name is taken by a pod that is not ours
 */
export async function makePod(on: Pods, body: V1Pod): Promise<PodState> {
  const { namespace } = on.cluster;
  const name = body.metadata?.name ?? '';
  const made = await on.cluster.ask(`make pod "${name}"`, (api) =>
    unless(['exists'], api.core.createNamespacedPod({ namespace, body })),
  );
  const state = made === null ? await findPod(on, name) : podStateOf(on.installation, made);
  if (state === null) {
    throw new ParleyError('runtime_unreachable', `Cannot make pod "${name}": it was removed meanwhile`);
  }
  const wanted = marksOf(on.installation, body.metadata?.labels);
  const isOurs =
    state.marks?.sandboxId === wanted?.sandboxId && state.marks?.generation === wanted?.generation;
  if (!isOurs) throw notOurs('pod', name);
  return state;
}

/**
 * Requests the end of all of them, and returns when none is there any more.
 * @throws ParleyError runtime_unreachable: a node has not confirmed the end in time
 */
export async function removePods(on: Pods, pods: readonly PodState[]): Promise<void> {
  await Promise.all(pods.map((pod) => removePod(on, pod)));
}

async function removePod(on: Pods, { name, uid }: PodState): Promise<void> {
  const { namespace, clock } = on.cluster;
  const events = on.watch.follow(name);
  try {
    await on.cluster.ask(`remove pod "${name}"`, (api) =>
      // A conflict: another pod has that name by now, and this one is gone.
      unless(
        ['not_found', 'conflict'],
        api.core.deleteNamespacedPod({
          name,
          namespace,
          // All in the body: beside one, a server does not read the query.
          body: { gracePeriodSeconds: STOP_GRACE_S, preconditions: { uid } },
        }),
      ),
    );
    const until = clock.now() + GONE_WAIT_MS;
    for (;;) {
      const found = await findPod(on, name);
      if (found === null || found.uid !== uid) return;
      if (clock.now() >= until) {
        const message = `Cannot remove pod "${name}": its node has not confirmed the end`;
        throw new ParleyError('runtime_unreachable', message, { remedy: 'look at the node, or delete it' });
      }
      await events.next(POLL_MS);
    }
  } finally {
    events.end();
  }
}

/** The end of what it printed; empty when there is nothing to read. */
export async function readLog(on: Pods, name: string): Promise<string> {
  const { namespace } = on.cluster;
  const text = await on.cluster
    .ask(`read the log of pod "${name}"`, (api) =>
      api.core.readNamespacedPodLog({
        name,
        namespace,
        container: MAIN_CONTAINER,
        tailLines: LOG_TAIL_LINES,
      }),
    )
    .catch(() => '');
  return typeof text === 'string' ? text : '';
}

/** Made, or there already: what an earlier attempt wrote stays valid. @throws ParleyError runtime_failed: not ours */
export async function makeSecret(on: Pods, body: V1Secret): Promise<void> {
  const { namespace } = on.cluster;
  const name = body.metadata?.name ?? '';
  const made = await on.cluster.ask(`make secret "${name}"`, (api) =>
    unless(['exists'], api.core.createNamespacedSecret({ namespace, body })),
  );
  if (made !== null) return;
  const found = await on.cluster.ask(`look at secret "${name}"`, (api) =>
    unless(['not_found'], api.core.readNamespacedSecret({ name, namespace })),
  );
  const sandbox = found?.metadata?.labels?.[LABELS.sandbox];
  if (found !== null && sandbox !== body.metadata?.labels?.[LABELS.sandbox]) throw notOurs('secret', name);
}

/** One that is missing, or is not ours, is left as it is. */
export async function removeSecrets(on: Pods, names: readonly string[]): Promise<void> {
  const { namespace } = on.cluster;
  for (const name of names) {
    const found = await on.cluster.ask(`look at secret "${name}"`, (api) =>
      unless(['not_found'], api.core.readNamespacedSecret({ name, namespace })),
    );
    if (found === null || marksOf(on.installation, found.metadata?.labels) === null) continue;
    const uid = found.metadata?.uid ?? '';
    await on.cluster.ask(`remove secret "${name}"`, (api) =>
      unless(
        ['not_found', 'conflict'],
        api.core.deleteNamespacedSecret({ name, namespace, body: { preconditions: { uid } } }),
      ),
    );
  }
}

/** Names of the secrets of this installation, or of one sandbox of it. */
export async function listSecrets(on: Pods, id: SandboxId | null = null): Promise<readonly string[]> {
  const { namespace } = on.cluster;
  const labelSelector = selectorOf(on.installation, id);
  const secrets = await on.cluster.ask('list secrets', (api) =>
    listAll((_continue) =>
      api.core.listNamespacedSecret({
        namespace,
        labelSelector,
        limit: PAGE_SIZE,
        ...(_continue === null ? {} : { _continue }),
      }),
    ),
  );
  return secrets.flatMap(({ metadata }) => (metadata?.name === undefined ? [] : [metadata.name]));
}
