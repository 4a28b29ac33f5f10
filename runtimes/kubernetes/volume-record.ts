/**
 * What is known of a sandbox: its volume, with generation and last order as annotations.
 * Owns reading and changing it by compare-and-set, so that of two processes the later order wins and the other fails.
 * The volume is made before any pod, so a crash leaves nothing unknown. Holds no secret.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { unless } from './api-errors.ts';
import type { Cluster } from './cluster.ts';
import { CONFLICTS_MAX, PAGE_SIZE } from './limits.ts';
import { ANNOTATIONS, ARCHIVE_FINALIZER, ownerOf, selectorOf, volumeName } from './names.ts';
import { listAll } from './list-all.ts';

export interface VolumeRecord {
  readonly sandboxId: SandboxId;
  readonly name: string;
  readonly uid: string;
  /** Changes with every change; a change that names an older one is refused. */
  readonly version: string;
  readonly generation: number;
  /** What was last ordered. `destroyed` stands until the files are gone: such a sandbox never starts again. */
  readonly desired: 'up' | 'stopped' | 'destroyed';
  /** Why we ended the incarnation without an order; null when we did not. */
  readonly endedFor: string | null;
  /** Its deletion was requested; it is held until it was archived. */
  readonly isBeingDeleted: boolean;
  readonly finalizers: readonly string[];
}

export interface Volumes {
  readonly cluster: Cluster;
  readonly installation: string;
}

type RecordChange = Partial<Pick<VolumeRecord, 'generation' | 'desired' | 'endedFor'>>;

/**
 * Null when there is none.
 * @throws ParleyError runtime_unreachable: it could not be read; runtime_failed: an object of that name is not ours
 */
export async function readRecord(on: Volumes, id: SandboxId): Promise<VolumeRecord | null> {
  const name = volumeName(on.installation, id);
  const { namespace } = on.cluster;
  const claim = await on.cluster.ask(`look at volume "${name}"`, (api) =>
    unless(['not_found'], api.core.readNamespacedPersistentVolumeClaim({ name, namespace })),
  );
  return claim === null ? null : recordOf(on, claim, id);
}

/** Every sandbox of this installation. */
export async function listRecords(on: Volumes): Promise<readonly VolumeRecord[]> {
  const { namespace } = on.cluster;
  const labelSelector = selectorOf(on.installation);
  const claims = await on.cluster.ask('list volumes', (api) =>
    listAll((_continue) =>
      api.core.listNamespacedPersistentVolumeClaim({
        namespace,
        labelSelector,
        limit: PAGE_SIZE,
        ...(_continue === null ? {} : { _continue }),
      }),
    ),
  );
  return claims.flatMap((claim) => {
    const id = ownerOf(on.installation, claim.metadata?.labels);
    return id === null ? [] : [recordOf(on, claim, id)];
  });
}

/** Makes a volume; null when one of that name came to be meanwhile. */
export async function makeRecord(on: Volumes, claim: V1PersistentVolumeClaim): Promise<VolumeRecord | null> {
  const { namespace } = on.cluster;
  const name = claim.metadata?.name ?? '';
  const made = await on.cluster.ask(`make volume "${name}"`, (api) =>
    unless(['exists'], api.core.createNamespacedPersistentVolumeClaim({ namespace, body: claim })),
  );
  const id = ownerOf(on.installation, claim.metadata?.labels);
  return made === null || id === null ? null : recordOf(on, made, id);
}

/** Null when it was changed or removed since it was read: read again and decide anew. */
export async function changeRecord(
  on: Volumes,
  record: VolumeRecord,
  change: RecordChange,
): Promise<VolumeRecord | null> {
  const annotations = {
    ...(change.generation === undefined ? {} : { [ANNOTATIONS.generation]: String(change.generation) }),
    ...(change.desired === undefined ? {} : { [ANNOTATIONS.desired]: change.desired }),
    ...(change.endedFor === undefined ? {} : { [ANNOTATIONS.endedFor]: change.endedFor }),
  };
  return await patch(on, record, { annotations });
}

/** Releases a volume whose files may go: takes our finalizer away, the last that holds it. */
export async function releaseVolume(on: Volumes, record: VolumeRecord): Promise<VolumeRecord | null> {
  return await patch(on, record, {
    finalizers: record.finalizers.filter((one) => one !== ARCHIVE_FINALIZER),
  });
}

/** Changes the record until it is as wanted. Null: there is none any more. */
export async function settleRecord(
  on: Volumes,
  id: SandboxId,
  decide: (record: VolumeRecord) => RecordChange | null,
): Promise<VolumeRecord | null> {
  for (let count = 0; count < CONFLICTS_MAX; count += 1) {
    const record = await readRecord(on, id);
    const change = record === null ? null : decide(record);
    if (record === null || change === null) return record;
    const changed = await changeRecord(on, record, change);
    if (changed !== null) return changed;
  }
  throw quarrel(id);
}

export function quarrel(id: SandboxId): ParleyError {
  const message = `Cannot change the record of sandbox "${id}": others change it all the time`;
  return new ParleyError('runtime_unreachable', message, { details: { refusal: 'conflict' } });
}

async function patch(
  on: Volumes,
  { sandboxId, name, version: resourceVersion, uid }: VolumeRecord,
  metadata: object,
): Promise<VolumeRecord | null> {
  const { namespace } = on.cluster;
  const body = { metadata: { ...metadata, resourceVersion, uid } };
  const changed = await on.cluster.ask(`change volume "${name}"`, (api) =>
    unless(
      ['conflict', 'not_found'],
      api.core.patchNamespacedPersistentVolumeClaim(
        { name, namespace, body },
        api.client.setHeaderOptions('Content-Type', api.client.PatchStrategy.MergePatch),
      ),
    ),
  );
  return changed === null ? null : recordOf(on, changed, sandboxId);
}

function recordOf(on: Volumes, claim: V1PersistentVolumeClaim, id: SandboxId): VolumeRecord {
  const {
    name = '',
    uid = '',
    resourceVersion = '',
    annotations = {},
    labels,
    finalizers = [],
  } = claim.metadata ?? {};
  const generation = Number(annotations[ANNOTATIONS.generation]);
  const desired = annotations[ANNOTATIONS.desired];
  if (ownerOf(on.installation, labels) !== id) throw notOurs('volume', name);
  if (
    !Number.isInteger(generation) ||
    (desired !== 'up' && desired !== 'stopped' && desired !== 'destroyed')
  ) {
    // Unknown is not gone: the annotations were taken away.
    throw new ParleyError('runtime_unreachable', `Cannot read volume "${name}": its annotations are missing`);
  }
  const endedFor = annotations[ANNOTATIONS.endedFor] ?? '';
  return {
    sandboxId: id,
    name,
    uid,
    version: resourceVersion,
    generation,
    desired,
    endedFor: endedFor === '' ? null : endedFor,
    isBeingDeleted: claim.metadata?.deletionTimestamp !== undefined,
    finalizers,
  };
}

/** What bears a name of ours and not our labels is never touched. */
export function notOurs(what: string, name: string): ParleyError {
  const message = `Cannot use ${what} "${name}": it belongs to somebody else`;
  const remedy = 'remove it or rename it, or choose another runtime.kubernetes.installation';
  return new ParleyError('runtime_failed', message, { details: { refusal: 'exists' }, remedy });
}
