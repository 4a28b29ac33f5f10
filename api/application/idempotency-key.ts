/**
 * The header by which a caller repeats a request without doing it twice.
 * Owns its form and bound, and that one key stands for one request: another one under it is refused, never taken for
 * the first and answered as if it had been done.
 */
import type { FastifyRequest } from 'fastify';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { UserId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from './application.ts';
import { invalid } from './validation.ts';

export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Null when none was sent. @throws InvalidRequest */
export function idempotencyKeyOf(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  if (typeof header === 'string' && IDEMPOTENCY_KEY.test(header)) return header;
  throw invalid(['header', 'Idempotency-Key'], 'Input should be 1 to 255 visible ASCII characters');
}

interface KeyedCall {
  readonly application: Application;
  readonly caller: { readonly userId: UserId };
  readonly query: unknown;
  readonly body: unknown;
  readonly request: FastifyRequest;
}

/**
 * The key that was sent, once it stands for this request; null when none was. `target` is what the request is about:
 * all requests about it share their keys, because whatever carries them out knows them by these keys alone.
 * @throws InvalidRequest; ParleyError idempotency_conflict
 */
export async function claimedKey(call: KeyedCall, target: string): Promise<string | null> {
  const key = idempotencyKeyOf(call.request);
  if (key !== null) await claim(call, { target, key });
  return key;
}

/** The same for a key that came in another place. @throws ParleyError idempotency_conflict */
export async function claim(
  { application, caller, query, body, request }: KeyedCall,
  { target, key }: { readonly target: string; readonly key: string },
): Promise<void> {
  const { method, routeOptions } = request;
  const mark = markOf(application, { operation: `${method} ${routeOptions.url}`, query, body });
  const at = application.world.clock.now();
  if (await application.idempotencyKeys.claim({ userId: caller.userId, target, key, mark, at })) return;
  throw new ParleyError(
    'idempotency_conflict',
    'Cannot take the request: its idempotency key was used for another one',
  );
}

/** The key that was sent, or a new one. @throws InvalidRequest; ParleyError idempotency_conflict */
export async function requestIdOf(call: KeyedCall, target: string): Promise<string> {
  return (await claimedKey(call, target)) ?? call.application.randomHex(32);
}

/** Tells requests apart; the order of keys is no difference, because some clients write another one each time. */
export function markOf({ world }: Pick<Application, 'world'>, request: unknown): string {
  return world.keys.requestMark(canonicalJson(request));
}
