/**
 * Making API keys (D5).
 * Owns their form and number; the text of a key leaves this file once, and is stored nowhere.
 */
import { randomBytes } from 'node:crypto';
import type { UserId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ApiKey, ApiKeyStore, KeyScope } from '../../ports/api-keys.ts';
import { hashOfKey } from '../application/authentication.ts';

/** Keys of one user: more are a leak, or a program that makes one for every call. */
const KEYS_MAX = 100;
/** 256 bits: far beyond guessing. */
const KEY_BYTES = 32;

export interface NewApiKey {
  readonly userId: UserId;
  readonly name: string | null;
  readonly scope: KeyScope;
  readonly now: number;
  readonly notBefore: number | null;
  readonly expiresAt: number | null;
  /** Its text, where the deployment gives one; else it is made. */
  readonly key?: string;
}

/** As long as those that are made, in the letters of addresses. */
const GIVEN_KEY = /^pa-[A-Za-z0-9_-]{43,128}$/;

/** A text that an attacker cannot guess. */
export function randomKey(): string {
  return `pa-${randomBytes(KEY_BYTES).toString('base64url')}`;
}

/** @throws ParleyError count_limit_reached; config_invalid for a given key that could be guessed */
export async function issueKey(
  keys: Pick<ApiKeyStore, 'add'>,
  { now, key: given, ...wish }: NewApiKey,
): Promise<{ readonly key: string; readonly record: ApiKey }> {
  if (given !== undefined && !GIVEN_KEY.test(given))
    throw new ParleyError(
      'config_invalid',
      'Cannot issue the given key: it is not "pa-" and 43 to 128 letters',
      {
        remedy: `make one with: echo "pa-$(openssl rand -hex 32)"`,
      },
    );
  const key = given ?? randomKey();
  const record = await keys.add({ ...wish, createdAt: now }, hashOfKey(key), KEYS_MAX);
  if (record !== null) return { key, record };
  throw new ParleyError('count_limit_reached', `Cannot issue a key: there are ${KEYS_MAX} already`);
}
