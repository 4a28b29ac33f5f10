/**
 * An error that a gateway put where an answer belongs, sent on as the plain reply that it should have been (D22).
 * Owns that reply; must not look for the error.
 */
import { relayedError, relayedHeaders } from './gateway-reply.ts';
import type { JsonObject } from './json-value.ts';
import type { ReplyOptions } from './reply.ts';

type RefusalOptions = Pick<ReplyOptions, 'res' | 'headers' | 'ownHeaders' | 'apiKey'>;

const PLAIN = { contentType: 'application/json', isCoded: false };

/** `frame` is the object around `error`. */
export function sendRefusal(
  { res, headers, ownHeaders, apiKey }: RefusalOptions,
  { frame, status }: { readonly frame: JsonObject; readonly status: number },
): void {
  const body = relayedError(Buffer.from(JSON.stringify(frame)), { status, apiKey });
  const own = relayedHeaders(headers, ownHeaders, PLAIN);
  own.push('content-length', body.length);
  res.writeHead(status, own);
  res.end(body);
}
