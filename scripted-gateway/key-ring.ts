// The virtual keys: names of variables replaced by their values, and who a request comes from.
// It keeps only SHA-256 of the keys (D20); it must never show one.

import { createHash } from 'node:crypto';

import { ApiError } from './api-error.ts';
import type { Problem } from './script/problem.ts';
import type { GatewayScript, ScriptKey } from './script/script.ts';

const variablePrefix = 'os.environ/';

/** Who calls: everything about a key but the key. */
export type KeyHolder = Omit<ScriptKey, 'key' | 'at'>;

/** Finds the holder of the key in an `authorization` header. Throws an ApiError 401 when there is none. */
export type KeyRing = (authorization: string | undefined) => KeyHolder;

/** Makes the ring; a variable that is not set, or a key that two holders share, is a problem at the key. */
export function openKeyRing(
  script: GatewayScript,
  env: Readonly<Record<string, string | undefined>>,
): { readonly ring: KeyRing; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const holders = new Map<string, KeyHolder>();
  for (const { key, at, ...holder } of script.keys) {
    const report = (message: string): void => void problems.push({ file: script.path, ...at, message });
    const value = resolveKey(key, env);
    if (value === null) {
      report(`key "${holder.name}": environment variable "${key.slice(variablePrefix.length)}" is not set`);
      continue;
    }
    const hash = hashOf(value);
    const other = holders.get(hash);
    if (other === undefined) holders.set(hash, holder);
    else report(`key "${holder.name}" has the same value as key "${other.name}"`);
  }
  return { ring: (authorization) => holderOf(holders, authorization), problems };
}

function resolveKey(key: string, env: Readonly<Record<string, string | undefined>>): string | null {
  if (!key.startsWith(variablePrefix)) return key;
  return env[key.slice(variablePrefix.length)] || null;
}

/** Looking up a hash takes no time that depends on how much of a guess is right. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function holderOf(holders: ReadonlyMap<string, KeyHolder>, authorization: string | undefined): KeyHolder {
  const refuse = (message: string): ApiError =>
    new ApiError({ status: 401, type: 'authentication_error', message: `Cannot authenticate: ${message}` });
  if (authorization === undefined) throw refuse('no "Authorization: Bearer" header');
  const key = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  if (key === undefined) throw refuse('the "Authorization" header is not "Bearer KEY"');
  const holder = holders.get(hashOf(key));
  if (holder === undefined) throw refuse('this key is not known');
  return holder;
}
