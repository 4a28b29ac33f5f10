/** Types of kubernetes-tools.js, for the tests that use what it installs. */

type Environment = Readonly<Record<string, string | undefined>>;

export interface KubernetesPrograms {
  readonly etcd: string;
  readonly kwok: string;
  readonly apiServer: string;
}

/** Whole paths of all three programs; null when one of them is missing. */
export function installedKubernetes(env: Environment): KubernetesPrograms | null;

/** Installs what is missing; one line for each program says how it went. */
export function installKubernetes(
  env: Environment,
): Promise<readonly { readonly name: string; readonly ok: boolean; readonly line: string }[]>;
