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

export interface KeyWish {
  readonly userId: UserId;
  readonly name: string | null;
  readonly scope: KeyScope;
  readonly now: number;
  readonly notBefore: number | null;
  readonly expiresAt: number | null;
}

/** @throws ParleyError count_limit_reached */
export async function issueKey(
  keys: ApiKeyStore,
  { now, ...wish }: KeyWish,
): Promise<{ readonly key: string; readonly record: ApiKey }> {
  const key = `pa-${randomBytes(KEY_BYTES).toString('base64url')}`;
  const record = await keys.add({ ...wish, createdAt: now }, hashOfKey(key), KEYS_MAX);
  if (record !== null) return { key, record };
  throw new ParleyError('count_limit_reached', `Cannot issue a key: there are ${KEYS_MAX} already`);
}
