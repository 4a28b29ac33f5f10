/**
 * An error that a gateway sent in place of an answer, passed on as a plain error reply (D22).
 * Owns that reply, and that another try comes before it; must not search for the error.
 */
import { relayedError, relayedHeaders } from './relay/gateway-reply.ts';
import { statusOfError } from './in-band-error.ts';
import type { JsonObject } from './relay/json-value.ts';
import type { ReplyOptions } from './relay/reply.ts';

type RefusalOptions = Pick<ReplyOptions, 'res' | 'kind' | 'headers' | 'ownHeaders' | 'apiKey' | 'handOver'>;

const PLAIN = { contentType: 'application/json', isCoded: false };

/** Sends nothing if the call is tried again, before any reply to the caller. `frame` is the object around `error`. */
export function refuse(
  { res, kind, headers, ownHeaders, apiKey, handOver }: RefusalOptions,
  frame: JsonObject,
): void {
  const status = statusOfError(frame);
  if (handOver(status)) return;
  const body = relayedError(Buffer.from(JSON.stringify(frame)), { status, apiKey, words: kind.words });
  const own = relayedHeaders(headers, ownHeaders, PLAIN);
  own.push('content-length', body.length);
  res.writeHead(status, own);
  res.end(body);
}
