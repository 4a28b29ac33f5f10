/**
 * Volumes of a cluster of one node: a folder for each claim of the class, made when it is asked for and removed when the
 * claim is.
 * Owns these folders and their objects, by looking again and again.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CoreV1Api, V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { NODE_NAME } from './node.ts';

export const STORAGE_CLASS = 'local';
const LOOK_MS = 500;

export interface VolumeMaker {
  close(): Promise<void>;
}

export function startVolumes(core: CoreV1Api, folder: string): VolumeMaker {
  const stopped = new AbortController();
  const working = run();
  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      // Others change what was just read: the next look sees it.
      await lookAround(core, folder).catch(() => undefined);
      await pause(LOOK_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  }
  return {
    async close() {
      stopped.abort();
      await working;
    },
  };
}

async function lookAround(core: CoreV1Api, folder: string): Promise<void> {
  const { items: volumes } = await core.listPersistentVolume();
  const names = new Set(volumes.map(({ metadata }) => metadata?.name));
  for (const { metadata, status, spec } of volumes) {
    const at = spec?.local?.path;
    if (status?.phase !== 'Released' || metadata?.name === undefined || at === undefined) continue;
    rmSync(at, { recursive: true, force: true });
    await core.deletePersistentVolume({ name: metadata.name });
  }
  const { items: claims } = await core.listPersistentVolumeClaimForAllNamespaces();
  for (const claim of claims) {
    if (claim.status?.phase !== 'Pending' || claim.spec?.storageClassName !== STORAGE_CLASS) continue;
    if (!names.has(nameOf(claim))) await makeVolume(core, claim, path.join(folder, nameOf(claim)));
  }
}

const nameOf = ({ metadata }: V1PersistentVolumeClaim): string => `local-${metadata?.uid ?? ''}`;

async function makeVolume(core: CoreV1Api, claim: V1PersistentVolumeClaim, at: string): Promise<void> {
  const { metadata, spec } = claim;
  mkdirSync(at, { recursive: true });
  const onNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [NODE_NAME] };
  await core.createPersistentVolume({
    body: {
      metadata: { name: nameOf(claim) },
      spec: {
        capacity: { storage: spec?.resources?.requests?.['storage'] ?? '1Gi' },
        accessModes: spec?.accessModes ?? ['ReadWriteOnce'],
        storageClassName: STORAGE_CLASS,
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: {
          ...{ kind: 'PersistentVolumeClaim', apiVersion: 'v1' },
          name: metadata?.name ?? '',
          namespace: metadata?.namespace ?? '',
          uid: metadata?.uid ?? '',
        },
        local: { path: at },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
      },
    },
  });
}
