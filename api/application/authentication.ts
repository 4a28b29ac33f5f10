/**
 * Who is calling (D5): the holder of an API key, or of a sandbox's session key.
 * Owns the reading and checking of keys; a key is compared as its hash, and is in no log or error.
 */
import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sandboxId as asSandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { repeatedHeader, severalHeaders } from '../../core/repeated-header.ts';
import type { ApiKey } from '../../ports/api-keys.ts';
import { sameText } from '../session-auth.ts';
import type { Application, Principal, SandboxCaller } from './application.ts';

/** The last use is written at most this often for one key: it is for people. */
const USE_EVERY_MS = 60_000;
/** Longer texts are no keys of ours, and are not hashed. */
const KEY_CHARS_MAX = 512;
/** Parameters in which clients have tried to send a key: an address ends up in logs of other systems. */
const KEY_PARAMETERS = [
  'api_key',
  'apikey',
  'key',
  'token',
  'access_token',
  'session_api_key',
  'authorization',
];

/** The form in which the store has a key. */
export function hashOfKey(key: string): string {
  return hash('sha256', key);
}

/** @throws ParleyError unauthorized */
export async function callerByKey(
  application: Application,
  request: FastifyRequest,
  options: { readonly alsoSessionHeader: boolean },
): Promise<Principal> {
  refuseKeyInAddress(request);
  const text = bearerOf(request) ?? (options.alsoSessionHeader ? sessionHeaderOf(request) : null);
  const key = text === null || text.length > KEY_CHARS_MAX ? null : await findKey(application, text);
  const now = application.world.clock.now();
  if (key === null || !isInForce(key, now)) throw unauthorized();
  if (key.lastUsedAt === null || now - key.lastUsedAt >= USE_EVERY_MS)
    await application.apiKeys.noteUse(key.keyId, now);
  const { userId, keyId, name: keyName, scope } = key;
  return { kind: 'key', userId, keyId, keyName, scope };
}

/** By its hash, so that a caller who measures how long the query takes learns nothing about a key. */
function findKey(application: Application, text: string): Promise<ApiKey | null> {
  return application.apiKeys.findByHash(hashOfKey(text));
}

function isInForce({ notBefore, expiresAt }: ApiKey, now: number): boolean {
  return (notBefore === null || now >= notBefore) && (expiresAt === null || now < expiresAt);
}

/** The key of the sandbox's present generation; one of before its last release opens nothing. @throws ParleyError unauthorized */
export async function callerBySession(
  application: Application,
  request: FastifyRequest,
  id: string,
): Promise<SandboxCaller> {
  refuseKeyInAddress(request);
  return await sessionCaller(application, id, sessionHeaderOf(request) ?? bearerOf(request));
}

/** @throws ParleyError unauthorized: also for a sandbox that does not exist, or is not up */
export async function sessionCaller(
  { world }: Application,
  id: string,
  key: string | null,
): Promise<SandboxCaller> {
  const sandbox = await world.records.sandbox(asSandboxId(id));
  if (sandbox === null || key === null || !sandbox.available) throw unauthorized();
  const { sandboxId, generation, userId } = sandbox;
  if (!sameText(key, world.keys.sessionKey(sandboxId, generation))) throw unauthorized();
  return { kind: 'sandbox', userId, sandboxId, generation };
}

function refuseKeyInAddress(request: FastifyRequest): void {
  const query = request.query as Readonly<Record<string, unknown>> | undefined;
  const name = Object.keys(query ?? {}).find((one) => KEY_PARAMETERS.includes(one.toLowerCase()));
  if (name === undefined) return;
  throw new ParleyError(
    'unauthorized',
    `Cannot accept a key in the address: send it in a header, not as "${name}"`,
  );
}

/** Two of one name are a mistake of a client or its proxy; the library would take the first, or join them. @throws ParleyError unauthorized */
function requireOne({ raw }: FastifyRequest, name: string): void {
  if (repeatedHeader(raw.rawHeaders, [name.toLowerCase()]) !== null)
    throw new ParleyError('unauthorized', severalHeaders(name));
}

function bearerOf(request: FastifyRequest): string | null {
  requireOne(request, 'Authorization');
  const match = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '');
  return match?.[1] ?? null;
}

function sessionHeaderOf(request: FastifyRequest): string | null {
  requireOne(request, 'X-Session-API-Key');
  const header = request.headers['x-session-api-key'];
  return typeof header === 'string' && header !== '' ? header : null;
}

function unauthorized(): ParleyError {
  return new ParleyError('unauthorized', 'Unauthorized');
}
