/**
 * That the network of sandboxes is closed before one starts.
 * Owns the policy of the namespace: pods of ours are reached by Parley only, and reach the ways that lead to it only.
 * The chart brings it; where it is missing it is made, and where that is refused nothing starts.
 */
import type { V1NetworkPolicy } from '@kubernetes/client-node';
import { ParleyError } from '../../core/parley-error.ts';
import { unless } from './api-errors.ts';
import type { Cluster } from './cluster.ts';
import { AGENT_PORT } from './limits.ts';
import { LABELS, policyName } from './names.ts';
import type { PodRoutes } from './options.ts';

interface PolicyOrder {
  readonly cluster: Cluster;
  readonly installation: string;
  readonly routes: PodRoutes;
}

/** @throws ParleyError runtime_failed: there is none and it may not be made; runtime_unreachable */
export async function ensurePolicy(order: PolicyOrder): Promise<void> {
  const { cluster, installation } = order;
  const { namespace } = cluster;
  const name = policyName(installation);
  const found = await cluster.ask(`look at network policy "${name}"`, (api) =>
    unless(['not_found'], api.networking.readNamespacedNetworkPolicy({ name, namespace })),
  );
  if (found !== null) return;
  const made = await cluster.ask(`make network policy "${name}"`, async (api) => {
    const body = networkPolicy(order);
    // Another process may be making it at this moment.
    const work = api.networking.createNamespacedNetworkPolicy({ namespace, body });
    return (
      (await unless(
        ['forbidden'],
        unless(['exists'], work).then(() => true),
      )) ?? false
    );
  });
  if (made) return;
  const message = `Cannot start sandboxes in namespace "${namespace}": it has no network policy "${name}"`;
  const remedy = 'install the chart, which brings it, or let the account of Parley make network policies';
  throw new ParleyError('runtime_failed', message, { details: { refusal: 'forbidden' }, remedy });
}

/** From outside the Agent Server's port, to outside the routes; the chart says more exactly who is outside. */
function networkPolicy({ cluster, installation, routes }: PolicyOrder): V1NetworkPolicy {
  const ports = Object.values<string | null>({ ...routes }).flatMap((route) =>
    route === null ? [] : [Number(route.slice(route.lastIndexOf(':') + 1))],
  );
  const outsideOfSandboxes = {
    podSelector: { matchExpressions: [{ key: LABELS.sandbox, operator: 'DoesNotExist' }] },
    namespaceSelector: {},
  };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: policyName(installation),
      namespace: cluster.namespace,
      labels: { [LABELS.installation]: installation },
    },
    spec: {
      podSelector: { matchLabels: { [LABELS.installation]: installation } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ _from: [outsideOfSandboxes], ports: [{ protocol: 'TCP', port: AGENT_PORT }] }],
      egress: [
        { to: [outsideOfSandboxes], ports: [...new Set(ports)].map((port) => ({ protocol: 'TCP', port })) },
      ],
    },
  };
}
