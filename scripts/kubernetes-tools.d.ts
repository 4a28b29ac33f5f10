/** Types of kubernetes-tools.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

export interface KubernetesPrograms {
  readonly etcd: string;
  readonly kwok: string;
  readonly apiServer: string;
}

/** Whole paths of all three programs; null when one of them is missing. */
export function installedKubernetes(env: Environment): KubernetesPrograms | null;

/** Installs what is missing; one line for each program says how it went. */
export function installKubernetes(env: Environment): Promise<readonly Installed[]>;
