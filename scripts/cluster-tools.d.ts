/** Types of cluster-tools.js, for the tests that use what it installs. */

import type { Environment, Installed } from './tool-cache.js';

export interface ClusterParts {
  /** The first program of a pod. */
  readonly pause: string;
  /** Files of Debian's packages, as on a root. */
  readonly debian: string;
  /** Folder of the programs of Kubernetes. */
  readonly kubernetes: string;
  /** Folder of `kube-router`. */
  readonly router: string;
  /** Folder of `coredns`. */
  readonly names: string;
}

/** Folders of the parts; null when one of them is missing. */
export function installedCluster(env: Environment): ClusterParts | null;

/** Why no cluster can start here, as a sentence; null when one can. */
export function clusterMissing(env: Environment): string | null;

/** Installs what is missing; one line for each part says how it went. */
export function installCluster(env: Environment): Promise<readonly Installed[]>;
