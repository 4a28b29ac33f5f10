/**
 * What the volume of a sandbox is made with.
 * Owns its size, its class and its marks, and the finalizer that holds it until it was archived.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { SandboxId } from '../../core/ids.ts';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import { ANNOTATIONS, ARCHIVE_FINALIZER, volumeLabels, volumeName } from './names.ts';
import type { KubernetesRuntimeOptions } from './options.ts';

/** Where a deployment bounds nothing: a claim must name a size. */
const BYTES_DEFAULT = 10 * 1024 ** 3;

export interface VolumeOrder {
  readonly options: KubernetesRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

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
