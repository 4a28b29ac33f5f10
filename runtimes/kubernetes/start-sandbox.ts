/**
 * Bringing one incarnation up.
 * Owns the decision between adopting, replacing and launching, and the wait for the Agent Server. The claim on the volume
 * comes first: of two starts at once, in whatever processes, the one of the later generation goes on.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxAddress, SandboxLimits, StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { PROBE_INTERVAL_MS } from '../on-host/limits.ts';
import { stale, staleReason, tooLate } from '../on-host/order-refusals.ts';
import { sleep, timeLeft } from '../on-host/wait.ts';
import { addressOf, podAnswers } from './agent-address.ts';
import { readLastWords } from './last-words.ts';
import { CONFLICTS_MAX, ENDED_FOR_CHARS_MAX, POLL_MS } from './limits.ts';
import { podName, type Marks, ANNOTATIONS, ARCHIVE_FINALIZER, volumeLabels, volumeName } from './names.ts';
import type { KubernetesRuntimeOptions, PodRoutes } from './options.ts';
import { agentPod } from './pod-spec.ts';
import type { PodState } from './pod-state.ts';
import { findPod, listPods, makePod, makeSecret, removePods, removeSecrets, type Pods } from './pods.ts';
import { sessionSecret } from './session-secret.ts';
import {
  changeRecord,
  makeRecord,
  quarrel,
  readRecord,
  settleRecord,
  type VolumeRecord,
} from './volume-record.ts';

export interface StartOrder {
  readonly options: KubernetesRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly pods: Pods;
  readonly request: StartSandboxRequest;
  /** Generations up to this one have ended for good. */
  readonly endedGeneration: number;
  /** Aborted when a newer order for the same sandbox arrived; that order cleans up. */
  readonly overtaken: AbortSignal;
  /** The ways out, with addresses in place of names; what sandboxes need of the namespace is there afterwards. */
  readonly prepare: () => Promise<PodRoutes>;
}

/** @throws ParleyError as `SandboxRuntime.start` */
export async function startSandbox(order: StartOrder): Promise<SandboxAddress> {
  const { options, pods, request } = order;
  if (options.clock.now() >= request.deadline) throw tooLate(request);
  await claim(order);
  const name = podName(options.installation, request.sandboxId, request.generation);
  const found = await listPods(pods, request.sandboxId);
  const agents = found.filter(({ marks }) => marks?.role === 'agent');
  const own = agents.find((pod) => pod.name === name && isAlive(pod));
  await removePods(
    pods,
    agents.filter((pod) => pod !== own),
  );
  if (own === undefined) await launch(order, name);
  return await waitUntilReady(order, name);
}

/** One that is pending or running is the answer to this very order, which was lost. */
function isAlive({ status }: PodState): boolean {
  return status.kind === 'pending' || status.kind === 'running' || status.kind === 'lost';
}

/** Writes the order down on the volume, and makes the volume where there is none. */
async function claim(order: StartOrder): Promise<VolumeRecord> {
  const { pods, request, options, limits, overtaken, endedGeneration } = order;
  const { sandboxId, generation } = request;
  for (let count = 0; count < CONFLICTS_MAX; count += 1) {
    const found = await readRecord(pods, sandboxId);
    const refused = staleReason({ request, found, endedGeneration, isOvertaken: overtaken.aborted });
    if (refused !== null) throw stale(request, refused);
    if (found?.isBeingDeleted === true) throw beingDeleted(request);
    if (found?.generation === generation && found.endedFor === null) return found;
    const claimed =
      found === null
        ? await makeRecord(pods, volumeSpec({ options, limits, sandboxId, generation }))
        : await changeRecord(pods, found, { generation, desired: 'up', endedFor: '' });
    if (claimed !== null) return claimed;
  }
  throw quarrel(sandboxId);
}

function beingDeleted({ sandboxId }: StartSandboxRequest): ParleyError {
  const message = `Cannot start sandbox "${sandboxId}": somebody deletes its volume, which is kept until it was archived`;
  return new ParleyError('runtime_failed', message, {
    remedy: 'delete the sandbox, which archives its files first',
  });
}

async function launch(order: StartOrder, name: string): Promise<void> {
  const { options, limits, pods, request } = order;
  const { sandboxId, generation, sessionKey } = request;
  const marks: Marks = { sandboxId, generation, role: 'agent' };
  const routes = await order.prepare();
  await makeSecret(pods, sessionSecret({ name, installation: options.installation, marks, key: sessionKey }));
  const made = await makePod(pods, agentPod({ options, limits, marks, name, routes }));
  // A newer order is first written down and then lists the pods: one of the two sees the other.
  if (await isStillWanted(pods, request)) return;
  await removePods(pods, [made]);
  await removeSecrets(pods, [name]);
  throw stale(request, 'a newer order was given');
}

async function isStillWanted(pods: Pods, { sandboxId, generation }: StartSandboxRequest): Promise<boolean> {
  const record = await readRecord(pods, sandboxId);
  return record?.generation === generation && record.desired === 'up';
}

async function waitUntilReady(order: StartOrder, name: string): Promise<SandboxAddress> {
  const { options, pods, request, overtaken } = order;
  const leftMs = timeLeft(options.clock, request.deadline);
  const events = pods.watch.follow(name);
  try {
    for (;;) {
      if (overtaken.aborted) throw stale(request, 'a newer order was given');
      const pod = await findPod(pods, name);
      if (pod?.status.kind === 'running' && (await answersSoon(order, pod.status.address, leftMs()))) {
        // From here on no process needs it, and what is not there cannot be read.
        await removeSecrets(pods, [name]);
        return addressOf(pod.status.address, request);
      }
      if (pod === null || isOver(pod)) throw await died(order, pod);
      if (leftMs() <= 0) throw await endedByDeadline(order, pod);
      if (pod.status.kind !== 'running') {
        await events.next(Math.max(0, Math.min(POLL_MS, leftMs())));
      }
    }
  } finally {
    events.end();
  }
}

function isOver({ status }: PodState): boolean {
  return status.kind === 'ended' || status.kind === 'ending' || (status.kind === 'pending' && status.isFinal);
}

/** Between two reads of the pod its server is probed more often: boots take less time than reads. */
async function answersSoon(
  { options, overtaken }: StartOrder,
  address: string,
  waitMs: number,
): Promise<boolean> {
  const { clock } = options;
  const leftMs = timeLeft(clock, clock.now() + Math.min(POLL_MS / 4, waitMs));
  for (;;) {
    if (overtaken.aborted) return false;
    if (await podAnswers(address)) return true;
    if (leftMs() <= 0) return false;
    await sleep(clock, Math.min(PROBE_INTERVAL_MS, leftMs()), overtaken);
  }
}

/** A pod that went because another process gave a newer order has not failed. */
async function died({ pods, request }: StartOrder, pod: PodState | null): Promise<ParleyError> {
  if (!(await isStillWanted(pods, request))) return stale(request, 'a newer order was given');
  const { words } = await readLastWords(pods, { endedFor: null, pod });
  return new ParleyError('runtime_failed', `Cannot start sandbox "${request.sandboxId}": ${words}`);
}

/** What kept it is reported, and noted on the volume before the pod goes: it is kept nowhere else. */
async function endedByDeadline({ pods, request }: StartOrder, pod: PodState): Promise<ParleyError> {
  const { sandboxId, generation } = request;
  const late = tooLate(request);
  const problem = pod.status.kind === 'pending' ? pod.status.problem : null;
  const why = problem ?? 'its Agent Server did not answer by the deadline';
  await settleRecord(pods, sandboxId, (record) =>
    record.generation === generation && record.desired === 'up' && record.endedFor === null
      ? { endedFor: why.slice(0, ENDED_FOR_CHARS_MAX) }
      : null,
  );
  await removePods(pods, [pod]);
  await removeSecrets(pods, [pod.name]);
  if (problem === null) return late;
  return new ParleyError('runtime_failed', `Cannot start sandbox "${sandboxId}": ${problem}`, {
    details: late.details,
  });
}

/** Where a deployment bounds nothing: a claim must name a size. */
const BYTES_DEFAULT = 10 * 1024 ** 3;

interface VolumeOrder {
  readonly options: KubernetesRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/** What the volume of a sandbox is made with. */
export function volumeSpec({ options, limits, sandboxId, generation }: VolumeOrder): V1PersistentVolumeClaim {
  const { installation, storageClass } = options;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: volumeName(installation, sandboxId),
      labels: volumeLabels(installation, sandboxId),
      annotations: { [ANNOTATIONS.generation]: String(generation), [ANNOTATIONS.desired]: 'up' },
      finalizers: [ARCHIVE_FINALIZER],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: String(limits.workspaceBytes ?? BYTES_DEFAULT) } },
      ...(storageClass === null ? {} : { storageClassName: storageClass }),
    },
  };
}
