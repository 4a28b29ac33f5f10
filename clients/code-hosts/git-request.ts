/**
 * What a Git client may ask over HTTP.
 * Owns recognising the two read requests of the smart protocol and the two of Git LFS, and refusing everything else
 * with its status.
 */
import type { LfsRead } from './lfs.ts';
import { parseRepositoryName } from './repository-name.ts';

/** A read request that makes sense; whether it is allowed is decided elsewhere. */
export interface GitRead {
  readonly kind: 'read';
  readonly provider: string;
  readonly name: string;
  readonly endpoint: '/info/refs' | '/git-upload-pack';
}

interface GitRefusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly reason: string;
}

const PATH_PATTERN =
  /^\/([a-z][a-z0-9_]{0,63})\/(.+)\.git(\/info\/refs|\/git-upload-pack|\/git-receive-pack|\/info\/lfs\/objects\/(?:batch|[0-9a-f]{64}))$/;

/** `target` is the request line's path and query, taken literally: an escaped character never means another one. */
export function parseGitRequest(method: string, target: string): GitRead | LfsRead | GitRefusal {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  const query = queryAt === -1 ? '' : target.slice(queryAt + 1);
  const [, provider = '', name = '', endpoint] = PATH_PATTERN.exec(path) ?? [];
  if (endpoint === undefined || parseRepositoryName(name) === null) return refused(404, 'no such repository');
  if (endpoint === '/git-receive-pack' || query === 'service=git-receive-pack') {
    return refused(403, 'pushing through the relay is not allowed');
  }
  if (endpoint.startsWith(LFS))
    return lfsRead(method, { provider, name, place: endpoint.slice(LFS.length), query });
  if (endpoint === '/info/refs') {
    if (method !== 'GET') return refused(405, 'only GET is allowed here');
    if (query !== 'service=git-upload-pack') return refused(403, 'only the smart protocol is served');
    return { kind: 'read', provider, name, endpoint };
  }
  if (endpoint !== '/git-upload-pack') return refused(404, 'no such repository');
  return method === 'POST'
    ? { kind: 'read', provider, name, endpoint }
    : refused(405, 'only POST is allowed here');
}

const LFS = '/info/lfs/objects/';
const SIZE_QUERY = /^size=(\d{1,15})$/;

function lfsRead(
  method: string,
  asked: { readonly provider: string; readonly name: string; readonly place: string; readonly query: string },
): LfsRead | GitRefusal {
  const { provider, name, place, query } = asked;
  if (place === 'batch')
    return method === 'POST'
      ? { kind: 'lfs', provider, name, object: null }
      : refused(405, 'only POST is allowed here');
  const size = SIZE_QUERY.exec(query)?.[1];
  if (method !== 'GET') return refused(405, 'only GET is allowed here');
  if (size === undefined) return refused(404, 'no such object');
  return { kind: 'lfs', provider, name, object: { oid: place, size: Number(size) } };
}

/**
 * The token of `Authorization: Bearer TOKEN`, or of `Basic` where it is the password (the user name, by custom
 * `x-access-token`, says nothing). Null when there is none.
 */
export function tokenOf(authorization: string | undefined): string | null {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme === '') return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  const password = text.slice(text.indexOf(':') + 1);
  return password === '' ? null : password;
}

function refused(status: number, reason: string): GitRefusal {
  return { kind: 'refused', status, reason };
}
