/**
 * The block `runtime.kubernetes` as plain data.
 * Owns what an empty value stands for, and that an image is named where sandboxes are pods; must not ask a cluster.
 */
import path from 'node:path';
import { errorAt, type ConfigParts } from '../config-parts.ts';
import type { KubernetesConfig } from '../deployment-config.ts';
import { numberOf, textOf, type EffectiveValue } from '../effective-values.ts';
import type { Problem } from '../problem.ts';
import type { SettingPath } from '../settings.ts';

const MEBIBYTE = 1024 ** 2;
const PERCENT = 100;

export function readKubernetesBlock(
  parts: ConfigParts,
  values: readonly EffectiveValue[],
): { readonly kubernetes: KubernetesConfig; readonly problems: readonly Problem[] } {
  const text = (name: SettingPath): string => textOf(values, name);
  const named = (name: SettingPath): string | null => text(name) || null;
  const share = (name: SettingPath, unit: number): number | null => numberOf(values, name) * unit || null;
  const kubeconfig = named('runtime.kubernetes.kubeconfig');
  const kubernetes: KubernetesConfig = {
    namespace: text('runtime.kubernetes.namespace'),
    installation: text('runtime.kubernetes.installation'),
    kubeconfig: kubeconfig === null ? null : path.resolve(parts.baseDir, kubeconfig),
    context: named('runtime.kubernetes.context'),
    image: text('runtime.kubernetes.image'),
    pullSecret: named('runtime.kubernetes.pull_secret'),
    storageClass: named('runtime.kubernetes.storage_class'),
    runtimeClass: named('runtime.kubernetes.runtime_class'),
    podSecurity: text('runtime.kubernetes.pod_security') === 'restricted' ? 'restricted' : 'baseline',
    service: text('runtime.kubernetes.service'),
    listen: text('runtime.kubernetes.listen'),
    memoryRequestBytes: share('runtime.kubernetes.memory_request_mb', MEBIBYTE),
    cpuRequest: share('runtime.kubernetes.cpu_request_percent', 1 / PERCENT),
  };
  const isChosen = text('runtime.kind') === 'kubernetes';
  if (!isChosen || kubernetes.image !== '') return { kubernetes, problems: [] };
  const problem = errorAt(parts, ['runtime', 'kubernetes', 'image'], {
    message: 'Cannot make pods: runtime.kubernetes.image names no image',
    remedy: 'write one by digest, as NAME@sha256:…; chart/images/ shows how to build it',
  });
  return { kubernetes, problems: [problem] };
}
