/**
 * Things of ours that no sandbox owns any more: pods of older generations, readers that ended, secrets without a pod.
 * Owns finding and removing them; what bears no labels of this installation is left alone.
 */
import { CONFLICTS_MAX } from './limits.ts';
import type { PodState } from './pod-state.ts';
import { listPods, listSecrets, removePods, removeSecrets } from './pods.ts';
import type { Pods } from './pods.ts';
import { listRecords } from './volume-record.ts';
import type { VolumeRecord } from './volume-record.ts';

/** One line for each thing that was removed. */
export async function removeLeftovers(pods: Pods): Promise<readonly string[]> {
  // Before the volumes: whatever is being made now has its volume already.
  const secrets = await listSecrets(pods);
  const listed = await listPods(pods);
  const records = new Map((await listRecords(pods)).map((record) => [record.sandboxId, record]));
  const orphans = listed.filter((pod) => isOrphan(pod, records));
  await removePods(pods, orphans.slice(0, SWEEP_MAX));
  // A start that is under way has its secret before its pod, so only one that no volume asks for is an orphan.
  const podNames = new Set(listed.map(({ name }) => name));
  const wanted = new Set([...records.values()].map(({ name, generation }) => `${name}-${generation}`));
  const unowned = secrets.filter((name) => !podNames.has(name) && !wanted.has(name));
  await removeSecrets(pods, unowned);
  return [
    ...orphans.slice(0, SWEEP_MAX).map(({ name }) => `pod ${name}`),
    ...unowned.map((name) => `secret ${name}`),
  ];
}

/** Removals of one sweep; the next one goes on. */
const SWEEP_MAX = CONFLICTS_MAX * 10;

function isOrphan({ marks, status }: PodState, records: ReadonlyMap<string, VolumeRecord>): boolean {
  if (marks === null) return false;
  const record = records.get(marks.sandboxId);
  if (record === undefined) return true;
  // A reader at work ends by itself.
  if (marks.role === 'reader') return status.kind === 'ended';
  // An older one is the rest of a start that was cut off; a newer one cannot be: its record comes first.
  return marks.generation < record.generation;
}
