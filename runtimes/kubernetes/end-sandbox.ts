/**
 * Ending an incarnation, and a sandbox for good.
 * Owns the order of both: first what was ordered is written down, then the pods go, then what belonged to them, and the
 * volume last; a step that was cut off is simply ordered again.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxId } from '../../core/ids.ts';
import { becomesTrue } from '../on-host/wait.ts';
import { unless } from './api-errors.ts';
import { CONFLICTS_MAX, GONE_WAIT_MS } from './limits.ts';
import { podName } from './names.ts';
import { listPods, listSecrets, removePods, removeSecrets, type Pods } from './pods.ts';
import { quarrel, readRecord, releaseVolume, settleRecord, type VolumeRecord } from './volume-record.ts';

/** The pods go, their volume stays. A reader goes on: it belongs to no incarnation. */
export async function endIncarnation(pods: Pods, id: SandboxId, generation: number): Promise<void> {
  const agents = (await listPods(pods, id)).filter(({ marks }) => marks?.role === 'agent');
  await removePods(pods, agents);
  // Another process may have removed its pod, and not its secret.
  const names = [...agents.map(({ name }) => name), podName(pods.installation, id, generation)];
  await removeSecrets(pods, [...new Set(names)]);
}

/** Nothing of the sandbox is left when this returns; resolves with the generation it had, 0 when there was none. */
export async function removeSandbox(pods: Pods, id: SandboxId): Promise<number> {
  const record = await settleRecord(pods, id, ({ desired }) =>
    desired === 'destroyed' ? null : { desired: 'destroyed' },
  );
  await removePods(pods, await listPods(pods, id));
  await removeSecrets(pods, await listSecrets(pods, id));
  if (record !== null) await removeVolume(pods, id);
  return record?.generation ?? 0;
}

/** The caller has archived what is worth keeping: the finalizer has done its work. */
async function removeVolume(pods: Pods, id: SandboxId): Promise<void> {
  const { namespace, clock } = pods.cluster;
  const released = await release(pods, id);
  if (released === null) return;
  const { name, uid } = released;
  await pods.cluster.ask(`remove volume "${name}"`, (api) =>
    unless(
      ['not_found', 'conflict'],
      api.core.deleteNamespacedPersistentVolumeClaim({ name, namespace, body: { preconditions: { uid } } }),
    ),
  );
  const isGone = await becomesTrue(
    clock,
    GONE_WAIT_MS,
    async () => (await readRecord(pods, id))?.uid !== uid,
  );
  if (isGone) return;
  throw new ParleyError(
    'runtime_unreachable',
    `Cannot remove volume "${name}": the cluster has not let it go`,
  );
}

async function release(pods: Pods, id: SandboxId): Promise<VolumeRecord | null> {
  for (let count = 0; count < CONFLICTS_MAX; count += 1) {
    const record = await readRecord(pods, id);
    if (record === null) return null;
    const released = await releaseVolume(pods, record);
    if (released !== null) return released;
  }
  throw quarrel(id);
}
