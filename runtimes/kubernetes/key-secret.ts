/**
 * A Secret of the cluster that holds the text of one API key.
 * Owns its form and that it is made at most once; the text is in no error and no line.
 */
import { ParleyError } from '../../core/parley-error.ts';
import { unless } from './api-errors.ts';
import type { Cluster } from './cluster.ts';

/** Where the text is in the Secret. */
export const API_KEY = 'api-key';

/** Its text; null when there is no such Secret. @throws ParleyError as Cluster.ask; runtime_failed: it holds no key */
export async function readKeySecret(cluster: Cluster, name: string): Promise<string | null> {
  const { namespace } = cluster;
  const secret = await cluster.ask(`read the secret "${name}"`, (api) =>
    unless(['not_found'], api.core.readNamespacedSecret({ name, namespace })),
  );
  if (secret === null) return null;
  const text = Buffer.from(secret.data?.[API_KEY] ?? '', 'base64').toString('utf8');
  if (text !== '') return text;
  throw new ParleyError('runtime_failed', `Cannot use the secret "${name}": it has no "${API_KEY}"`, {
    remedy: `delete it, and another one is made; or write the key into "${API_KEY}" yourself`,
  });
}

/** False when there is one of that name already, which stays as it is. @throws ParleyError as Cluster.ask */
export async function createKeySecret(
  cluster: Cluster,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<boolean> {
  const { namespace } = cluster;
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: { 'app.kubernetes.io/name': 'parley' } },
    type: 'Opaque',
    data: { [API_KEY]: Buffer.from(text).toString('base64') },
  };
  const made = await cluster.ask(`make the secret "${name}"`, (api) =>
    unless(['exists'], api.core.createNamespacedSecret({ namespace, body })),
  );
  return made !== null;
}
