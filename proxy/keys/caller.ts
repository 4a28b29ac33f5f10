/**
 * Who is calling: the master key or a virtual key.
 * Owns finding and checking the key; must not keep, log or return one.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { repeatedHeader, severalHeaders } from '../../core/repeated-header.ts';
import type { KeyDirectory, ProxyCaller } from '../../ports/key-directory.ts';
import { failure, type Failure } from '../failure.ts';
import { apiKeyHeader } from '../relay/header-names.ts';

export type Caller = ProxyCaller;

/** What of a request says who is calling. */
export type Presenting = Pick<IncomingMessage, 'headers' | 'rawHeaders'>;

/** At once where the key is known in memory. */
export type FindCaller = (request: Presenting) => Caller | Failure | Promise<Caller | Failure>;

const MASTER: Caller = { name: 'master', sessionId: null, userId: null, models: null };
const BEARER = /^bearer +(\S+) *$/i;

/** Whether the caller holds the master key: it may use the admin routes. */
export function isAdmin(caller: Caller): boolean {
  return caller === MASTER;
}

/** The check of one proxy. The master key is compared by digest in constant time; every call asks the directory. */
export function callerFinder(options: {
  /** Asked in order until one knows the key. */
  readonly directories: readonly KeyDirectory[];
  readonly masterKey: string | null;
  readonly vendor: string;
}): FindCaller {
  const master = options.masterKey === null ? null : digest(options.masterKey);
  const names = ['authorization', apiKeyHeader(options.vendor), 'x-api-key', 'api-key'];
  return ({ headers, rawHeaders }) => {
    const repeated = repeatedHeader(rawHeaders, names);
    if (repeated !== null)
      return failure(
        'unauthorized',
        severalHeaders(repeated === 'authorization' ? 'Authorization' : repeated),
      );
    const key = presentedKey(headers, names.slice(1));
    if (key === null) return failure('unauthorized', 'Cannot authenticate the call: no API key was passed');
    const digested = digest(key);
    if (master !== null && timingSafeEqual(digested, master)) return MASTER;
    return findVirtual(options.directories, { key, sha256: digested.toString('hex') });
  };
}

/** From the directory at `index` on. */
function findVirtual(
  directories: readonly KeyDirectory[],
  presented: { readonly key: string; readonly sha256: string },
  index = 0,
): Caller | Failure | Promise<Caller | Failure> {
  const keys = directories[index];
  if (keys === undefined)
    return failure('unauthorized', 'Cannot authenticate the call: the API key is unknown or expired');
  const next = (caller: Caller | null): ReturnType<typeof findVirtual> =>
    caller ?? findVirtual(directories, presented, index + 1);
  const found = keys.find(presented.key, presented.sha256);
  return found instanceof Promise ? found.then(next, refuseUnanswered) : next(found);
}

function refuseUnanswered(): Failure {
  return failure('store_unavailable', 'Cannot authenticate the call: the key directory did not answer');
}

function presentedKey(headers: IncomingMessage['headers'], others: readonly string[]): string | null {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const other = others.map((name) => headers[name]).find((value) => value !== undefined);
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
