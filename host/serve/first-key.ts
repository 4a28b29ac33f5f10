/**
 * The first API key of a deployment on a cluster, kept in a Secret.
 * Owns the order: the Secret before the key, so that a process killed in between loses no text that opens something.
 */
import { randomKey, issueKey } from '../../api/keys/issue-key.ts';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import type { ApiKeyStore } from '../../ports/api-keys.ts';
import type { Cluster } from '../../runtimes/kubernetes/cluster.ts';
import { createKeySecret, readKeySecret } from '../../runtimes/kubernetes/key-secret.ts';

/** Whose the first key is, and what it opens. */
export const FIRST_KEY = {
  userId: LOCAL_USER,
  name: 'first',
  scope: 'admin',
  notBefore: null,
  expiresAt: null,
} as const;

/**
 * `made`: Secret and key. `secret_made`: the Secret; the serving process issues the key. `issued`: the key of a Secret
 * that was there. `secret_there`: nothing was to be done. `keys_there`: keys were issued before, without a Secret.
 */
export type FirstKeyOutcome = 'made' | 'secret_made' | 'issued' | 'secret_there' | 'keys_there';

export interface FirstKeyOrder {
  readonly cluster: Cluster;
  /** Name of the Secret. */
  readonly secret: string;
  /** Null where the store is another process's alone: that one issues the key. */
  readonly keys: Pick<ApiKeyStore, 'add' | 'hasAny'> | null;
  readonly now: number;
}

/** A repeat changes nothing. @throws ParleyError runtime_failed, runtime_unreachable, config_invalid, store_unavailable */
export async function makeFirstKey({ cluster, secret, keys, now }: FirstKeyOrder): Promise<FirstKeyOutcome> {
  const known = await readKeySecret(cluster, secret);
  const hasAny = (await keys?.hasAny()) ?? false;
  if (known === null && hasAny) return 'keys_there';
  if (known !== null && (keys === null || hasAny)) return 'secret_there';
  const own = known ?? randomKey();
  const isMade = known === null && (await createKeySecret(cluster, { name: secret, text: own }));
  if (keys === null) return isMade ? 'secret_made' : 'secret_there';
  // Of two at once the other's Secret holds, and perhaps its key is issued already.
  if (!isMade && (await keys.hasAny())) return 'secret_there';
  const key = isMade ? own : ((await readKeySecret(cluster, secret)) ?? own);
  await issueKey(keys, { ...FIRST_KEY, key, now });
  return isMade ? 'made' : 'issued';
}
