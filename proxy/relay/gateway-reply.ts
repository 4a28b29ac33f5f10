/**
 * What of a gateway's reply reaches the caller besides its bytes.
 * Owns the relayed headers, the reading of error bodies and the failures of the connection.
 * Must not let the gateway's key or address through (D19).
 */
import type { IncomingHttpHeaders, OutgoingHttpHeader } from 'node:http';
import { parsedJson } from '../../core/text/parsed-json.ts';
import { anthropicType, failure, type Failure } from '../failure.ts';
import { asObject, asText, type JsonObject } from './json-value.ts';
import { ERROR_TEXT_LENGTH_MAX, RELAYED_VALUE_LENGTH_MAX, SECRET_LENGTH_MIN } from '../limits.ts';
import type { RouteWords } from './relay-kind.ts';

export type ReplyHeaders = Readonly<IncomingHttpHeaders>;

/** An allowlist, because gateways reveal their address, key and budget in headers of their own. */
const RELAYED_NAMES = new Set([
  'content-type',
  'content-encoding',
  'retry-after',
  'retry-after-ms',
  'x-request-id',
  'request-id',
]);
const RELAYED_PREFIXES = ['x-ratelimit-', 'openai-', 'anthropic-ratelimit-'];

/**
 * Name and value alternating, after `ownHeaders`: in this form Node writes them out without a table of its own.
 * `form` describes the body where it differs from what the gateway sent or declared.
 */
export function relayedHeaders(
  headers: ReplyHeaders,
  ownHeaders: readonly OutgoingHttpHeader[],
  form?: { readonly contentType: string; readonly isCoded: boolean },
): OutgoingHttpHeader[] {
  const relayed = [...ownHeaders];
  if (form !== undefined) relayed.push('content-type', form.contentType);
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || !isRelayed(name)) continue;
    if (form !== undefined && (name === 'content-type' || (name === 'content-encoding' && !form.isCoded)))
      continue;
    if (typeof value === 'string') addShort(relayed, name, value);
    else for (const one of value) addShort(relayed, name, one);
  }
  return relayed;
}

function addShort(relayed: OutgoingHttpHeader[], name: string, value: string): void {
  if (value.length <= RELAYED_VALUE_LENGTH_MAX) relayed.push(name, value);
}

function isRelayed(name: string): boolean {
  return RELAYED_NAMES.has(name) || RELAYED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * A gateway's error in the usual envelope: its own bytes when they are one, else its text wrapped (D22).
 * The gateway's key is cut out if the error repeats it.
 */
export function relayedError(
  body: Buffer,
  gateway: { readonly status: number; readonly apiKey: string; readonly words: RouteWords },
): Buffer {
  const text = body.toString('utf8');
  const clean = withoutKey(text, gateway.apiKey);
  const value = parsedJson(clean);
  // Some gateways send a list of one error.
  const json = asObject(Array.isArray(value) ? value[0] : value);
  const own = asObject(json?.['error']);
  if (json !== null && own !== null && gateway.words === 'anthropic' && json['type'] !== 'error')
    return Buffer.from(anthropicError(gateway.status, own));
  if (own !== null)
    return json !== value ? Buffer.from(JSON.stringify(json)) : clean === text ? body : Buffer.from(clean);
  const said =
    asText(json?.['error']) ?? asText(json?.['message']) ?? asText(json?.['detail']) ?? clean.trim();
  const message = said === '' ? `The gateway answered ${gateway.status} without a text` : said;
  if (gateway.words === 'anthropic')
    return Buffer.from(anthropicError(gateway.status, { message: message.slice(0, ERROR_TEXT_LENGTH_MAX) }));
  const type = gateway.status < 500 ? 'invalid_request_error' : 'server_error';
  const error = {
    message: message.slice(0, ERROR_TEXT_LENGTH_MAX),
    type,
    param: null,
    code: String(gateway.status),
  };
  return Buffer.from(JSON.stringify({ error }));
}

/** In the envelope of messages, even for another vendor's error: its clients check the status and the type. */
function anthropicError(status: number, own: JsonObject): string {
  return JSON.stringify({ type: 'error', error: { ...own, type: anthropicType(status) } });
}

/** A key that is long enough to be one is cut out. */
export function withoutKey(text: string, apiKey: string): string {
  return apiKey.length >= SECRET_LENGTH_MIN ? text.replaceAll(apiKey, '[redacted]') : text;
}

const NEVER_REACHED = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'],
  ...[
    'UND_ERR_CONNECT_TIMEOUT',
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
]);

/** Whether the gateway may have read the call: one that was never connected to has not. */
export function wasReached(error: Error): boolean {
  return !('code' in error && typeof error.code === 'string' && NEVER_REACHED.has(error.code));
}

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** A connection that failed: 504 when the gateway was too slow, 502 when it could not be reached or hung up (D22). */
export function connectionFailure(
  error: Error,
  call: { readonly modelName: string; readonly hadReply: boolean },
): Failure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const what = `Cannot complete the call to the gateway of model "${call.modelName}"`;
  if (TIMEOUTS.has(code)) return failure('gateway_timeout', `${what}: it did not answer in time`);
  if (isNoReply(code)) return failure('gateway_failed', `${what}: its reply cannot be read (${code})`);
  if (call.hadReply)
    return failure('gateway_failed', `${what}: it hung up in the middle of its reply (${code})`);
  // DNS has answered that there is no such host: a retry changes nothing. (EAI_AGAIN is no answer.)
  if (code === 'ENOTFOUND')
    return failure('gateway_host_unknown', `${what}: there is no such host (${code})`);
  return failure('gateway_unreachable', `${what}: it cannot be reached (${code})`);
}

const NO_REPLIES = new Set(['HTTPParserError', 'UND_ERR_HEADERS_OVERFLOW']);

/** The gateway was reached, but its reply is invalid HTTP or has too long headers. */
function isNoReply(code: string): boolean {
  return code.startsWith('HPE_') || NO_REPLIES.has(code);
}

/** A reply that ended before it was whole, although the connection did not say so. */
export function cutFailure(modelName: string): Failure {
  const what = `Cannot complete the call to the gateway of model "${modelName}"`;
  return failure('gateway_failed', `${what}: its reply ended before it was whole`);
}

/** A 200 that holds neither an answer nor a known form of error, such as an HTML page. */
export function noAnswerFailure(
  body: Buffer,
  gateway: { readonly modelName: string; readonly apiKey: string },
): Failure {
  const what = `Cannot complete the call to the gateway of model "${gateway.modelName}"`;
  const text = withoutKey(body.toString('utf8', 0, 4 * ERROR_TEXT_LENGTH_MAX), gateway.apiKey);
  const said = text.trim().slice(0, ERROR_TEXT_LENGTH_MAX);
  return failure('gateway_failed', `${what}: it answered 200 with what is no JSON: ${said}`);
}
