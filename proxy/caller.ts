/**
 * Who is calling: the master key or a virtual key.
 * Owns finding and checking the key; must not keep, log or return one.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { KeyDirectory, ProxyCaller } from '../ports/key-directory.ts';
import { failure, type Failure } from './failure.ts';

export interface Caller extends ProxyCaller {
  /** Holds the master key: may use the admin routes. */
  readonly isAdmin: boolean;
}

export type FindCaller = (headers: IncomingHttpHeaders) => Promise<Caller | Failure>;

const MASTER: Caller = { name: 'master', sessionId: null, userId: null, models: null, isAdmin: true };
const BEARER = /^bearer +(\S+) *$/i;

/** The check of one proxy. The master key is compared by digest in constant time; every call asks the directory. */
export function callerFinder(options: {
  /** Asked in order until one knows the key. */
  readonly directories: readonly KeyDirectory[];
  readonly masterKey: string | null;
  readonly vendor: string;
}): FindCaller {
  const master = options.masterKey === null ? null : digest(options.masterKey);
  return async (headers) => {
    const key = presentedKey(headers, options.vendor);
    if (key === null) return failure('unauthorized', 'Cannot authenticate the call: no API key was passed');
    if (master !== null && timingSafeEqual(digest(key), master)) return MASTER;
    return findVirtual(options.directories, key);
  };
}

async function findVirtual(directories: readonly KeyDirectory[], key: string): Promise<Caller | Failure> {
  try {
    for (const keys of directories) {
      const caller = await keys.find(key);
      if (caller !== null) return { ...caller, isAdmin: false };
    }
    return failure('unauthorized', 'Cannot authenticate the call: the API key is unknown or expired');
  } catch {
    return failure('store_unavailable', 'Cannot authenticate the call: the key directory did not answer');
  }
}

function presentedKey(headers: IncomingHttpHeaders, vendor: string): string | null {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const other = headers[`x-${vendor}-api-key`] ?? headers['x-api-key'] ?? headers['api-key'];
  if (typeof other !== 'string' || other === '') return null;
  return BEARER.exec(other)?.[1] ?? other;
}

function digest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Whether the caller may use the model; the wildcard entry is named "*" in a key's list. */
export function mayUse(caller: Caller, modelName: string): boolean {
  return caller.models === null || caller.models.includes(modelName);
}
