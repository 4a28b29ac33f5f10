/**
 * What the status of a pod says about an incarnation.
 * Owns the reading of phases, conditions and container states, as a function of the object; must not call anything.
 */
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import type { CrashCause } from '../../ports/sandbox-runtime.ts';
import { marksOf, type Marks } from './names.ts';

/** The container in a pod of ours that counts. */
export const MAIN_CONTAINER = 'main';

export type PodStatus =
  /** Not placed, or its containers are being made; `problem` is what keeps it, `isFinal` when waiting cannot help. */
  | { readonly kind: 'pending'; readonly problem: string | null; readonly isFinal: boolean }
  | { readonly kind: 'running'; readonly address: string }
  /** `words` is the cluster's own sentence, or empty. */
  | { readonly kind: 'ended'; readonly cause: CrashCause; readonly words: string }
  /** Its end was requested and it is not gone yet. */
  | { readonly kind: 'ending' }
  /** Its node does not answer: it may run and may not. */
  | { readonly kind: 'lost'; readonly reason: string };

export interface PodState {
  readonly name: string;
  readonly uid: string;
  readonly marks: Marks | null;
  readonly node: string | null;
  readonly status: PodStatus;
}

/** Images under these reasons never come. */
const FINAL_WAITS: ReadonlySet<string> = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImagePullBackOff',
  'ImageInspectError',
  'CreateContainerConfigError',
  'CreateContainerError',
]);
const DISK = /ephemeral|disk|storage/i;

export function podStateOf(installation: string, pod: V1Pod): PodState {
  const { name = '', uid = '', labels } = pod.metadata ?? {};
  return {
    name,
    uid,
    marks: marksOf(installation, labels),
    node: pod.spec?.nodeName ?? null,
    status: statusOf(pod),
  };
}

function statusOf(pod: V1Pod): PodStatus {
  const { phase, reason = '', message = '', podIP } = pod.status ?? {};
  const main = pod.status?.containerStatuses?.find(({ name }) => name === MAIN_CONTAINER);
  if (wasEnded(pod, main)) return { kind: 'ending' };
  if (phase === 'Failed' || phase === 'Succeeded') return ended(main, [reason, message, preparationOf(pod)]);
  if (reason === 'NodeLost' || phase === 'Unknown')
    return { kind: 'lost', reason: 'its node does not answer' };
  if (pod.metadata?.deletionTimestamp !== undefined) return { kind: 'ending' };
  if (main?.state?.terminated !== undefined) return ended(main, [reason, message, '']);
  if (phase === 'Running' && podIP !== undefined && podIP !== '') return { kind: 'running', address: podIP };
  return pending(pod);
}

/** What ends after a deletion does not end by itself: it is about to be gone, whatever its code says. */
function wasEnded({ metadata }: V1Pod, main: V1ContainerStatus | undefined): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata ?? {};
  if (deletionTimestamp === undefined) return false;
  const finishedAt = main?.state?.terminated?.finishedAt;
  // The time of the deletion is when its grace is over.
  const toldAt = deletionTimestamp.getTime() - deletionGracePeriodSeconds * 1_000;
  return finishedAt !== undefined && finishedAt.getTime() >= toldAt;
}

function ended(
  main: V1ContainerStatus | undefined,
  [reason = '', message = '', preparation = '']: readonly string[],
): PodStatus {
  const words = [reason, message, preparation].filter((text) => text !== '').join(': ');
  if (reason === 'Evicted' && DISK.test(message))
    return { kind: 'ended', cause: { kind: 'disk_limit' }, words };
  const end = main?.state?.terminated ?? main?.lastState?.terminated;
  if (end === undefined) return { kind: 'ended', cause: { kind: 'exit', exitCode: null }, words };
  if (end.reason === 'OOMKilled') return { kind: 'ended', cause: { kind: 'out_of_memory' }, words };
  // Evicted and overdue pods are killed from outside: the code says nothing about the agent then.
  const exitCode = words === '' ? end.exitCode : null;
  return { kind: 'ended', cause: { kind: 'exit', exitCode }, words };
}

/** Why the main container never ran; empty when its preparation went well. */
function preparationOf({ status }: V1Pod): string {
  const codes = (status?.initContainerStatuses ?? []).map(({ state }) => state?.terminated?.exitCode ?? 0);
  const failed = codes.find((code) => code !== 0);
  return failed === undefined ? '' : `its preparation ended with exit code ${failed}`;
}

function pending(pod: V1Pod): PodStatus {
  const preparation = preparationOf(pod);
  if (preparation !== '') return { kind: 'pending', problem: preparation, isFinal: true };
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { state, image } of statuses) {
    const waiting = state?.waiting;
    if (waiting?.reason === undefined || waiting.reason === 'PodInitializing') continue;
    if (waiting.reason === 'ContainerCreating') continue;
    const said = waiting.message === undefined ? '' : `: ${waiting.message}`;
    const problem = `image "${image}": ${waiting.reason}${said}`;
    return { kind: 'pending', problem, isFinal: FINAL_WAITS.has(waiting.reason) };
  }
  const placed = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const unplaced =
    placed?.status === 'False' ? `no node takes it: ${placed.message ?? placed.reason ?? ''}` : null;
  return { kind: 'pending', problem: unplaced, isFinal: false };
}
