/**
 * Whether sandboxes could be pods of the configured cluster.
 * Owns the finding about Kubernetes; asks the API server, and makes nothing.
 */
import { asParleyError } from '../../core/parley-error.ts';
import type { Cluster, ClusterApi } from '../../runtimes/kubernetes/cluster.ts';
import type { DeploymentConfig, KubernetesConfig } from '../../host/config/deployment-config.ts';
import { failed, type Finding, passed, warned } from '../../host/finding.ts';
import { programFolder } from '../../host/sandboxes/places.ts';
import { remedyOfMissing } from '../missing-part.ts';

const CHECK = 'kubernetes';

/** What the runtime does, in the words of the API; the chart's role gives exactly these. */
export const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  pods: ['get', 'list', 'watch', 'create', 'delete'],
  'pods/log': ['get'],
  persistentvolumeclaims: ['get', 'list', 'create', 'patch', 'delete'],
  secrets: ['get', 'list', 'create', 'delete'],
  networkpolicies: ['get'],
};
const GROUPS: Readonly<Record<string, string>> = { networkpolicies: 'networking.k8s.io' };

/** A cluster is asked only where it was chosen: a laptop's kubeconfig may lead anywhere. */
export async function checkKubernetes({
  kubernetes,
  runtimeKind,
  agent,
}: DeploymentConfig): Promise<Finding> {
  if (runtimeKind !== 'kubernetes') return passed(CHECK, 'not chosen');
  try {
    return await ask(kubernetes, agent.kind === 'reference');
  } catch (error) {
    const told = asParleyError(error);
    const known = remedyOfMissing(told, programFolder) ?? told.remedy;
    const remedy = known ?? 'look at runtime.kubernetes, or set runtime.kind to "process"';
    return failed(CHECK, told.message, remedy);
  }
}

async function ask(kubernetes: KubernetesConfig, isReference: boolean): Promise<Finding> {
  const { systemClock } = await import('../../engine/system-clock.ts');
  const { kubernetesCluster } = await import('../../runtimes/kubernetes/cluster.ts');
  const { policyName } = await import('../../runtimes/kubernetes/names.ts');
  const { unless } = await import('../../runtimes/kubernetes/api-errors.ts');
  const { namespace, installation } = kubernetes;
  const cluster = kubernetesCluster({ ...kubernetes, clock: systemClock });
  const version = await cluster.ask('ask the API server for its version', (api) =>
    api.make(api.client.VersionApi).getCode(),
  );
  const tools = toolsWords(isReference && kubernetes.podSecurity === 'baseline');
  const works = `Kubernetes ${version.gitVersion}, namespace "${namespace}"; ${tools}`;
  const missing = await missingRights(cluster);
  if (missing.length > 0) {
    const detail = `${works}; not allowed: ${missing.join(', ')}`;
    return failed(CHECK, detail, "bind the chart's role to the account of Parley in that namespace");
  }
  const name = policyName(installation);
  const policy = await cluster.ask(`look at network policy "${name}"`, (api) =>
    unless(['not_found'], api.networking.readNamespacedNetworkPolicy({ name, namespace })),
  );
  if (policy !== null) return passed(CHECK, works);
  const remedy = 'install the chart, which brings it, and a network plug-in that keeps to policies';
  return warned(CHECK, `${works}; it has no network policy "${name}"`, remedy);
}

async function missingRights(cluster: Cluster): Promise<readonly string[]> {
  const wanted = Object.entries(RIGHTS).flatMap(([what, verbs]) => verbs.map((verb) => ({ what, verb })));
  const answers = await cluster.ask('ask what this account may do', (api) =>
    Promise.all(wanted.map((right) => isAllowed({ api, cluster }, right))),
  );
  return wanted.filter((_, index) => answers[index] !== true).map(({ what, verb }) => `${verb} ${what}`);
}

async function isAllowed(
  { api, cluster }: { readonly api: ClusterApi; readonly cluster: Cluster },
  { what, verb }: { readonly what: string; readonly verb: string },
): Promise<boolean> {
  const [resource = '', subresource] = what.split('/');
  const resourceAttributes = {
    namespace: cluster.namespace,
    group: GROUPS[resource] ?? '',
    resource,
    verb,
    ...(subresource === undefined ? {} : { subresource }),
  };
  const review = await api.make(api.client.AuthorizationV1Api).createSelfSubjectAccessReview({
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    },
  });
  return review.status?.allowed === true;
}

/** How far the tools of an agent are kept from their Agent Server in a container; whether they are, the runtime says. */
export function toolsWords(areApart: boolean): string {
  return `tools are ${areApart ? 'another user than' : 'beside'} their Agent Server`;
}
