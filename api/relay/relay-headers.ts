/**
 * Headers of a request or answer that passes through the relay.
 * Owns what stays behind: what belongs to one connection, keys of ours that an Agent Server must not see, and everything
 * by which what a sandbox answers could become a page, a script or a rule of our own origin (D31).
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

const OF_ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
]);
/** An API key opens everything of its user: the inside of a sandbox is no place for it (D20). */
const OURS = new Set(['authorization', 'cookie']);
/** All that an answer may say of itself. */
const PASSED_BACK = [
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'retry-after',
] as const;
/** What a browser never runs, whatever is in it; anything else is bytes. */
const DATA_TYPE =
  /^(?:application\/(?:json|jsonl|x-ndjson|octet-stream|zip|gzip)|text\/(?:plain|event-stream))$/;
const BYTES = 'application/octet-stream';
const DISPOSITION = /^attachment; filename(?:\*=UTF-8''|=)[\w.%~-]{1,300}$/;

export function requestHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name) && !OURS.has(name));
  return { ...Object.fromEntries(passed), host: 'agent', connection: 'close' };
}

export function answerHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = PASSED_BACK.map((name) => [name, headers[name]] as const).filter(
    ([, value]) => value !== undefined,
  );
  const type = dataType(headers['content-type']);
  const named = headers['content-disposition'] ?? '';
  const attachment = DISPOSITION.test(named) ? named : 'attachment';
  return {
    ...Object.fromEntries(passed),
    'content-type': type,
    ...(type === BYTES ? { 'content-disposition': attachment } : {}),
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  };
}

function dataType(said: string | undefined): string {
  const [type = '', ...parameters] = (said ?? '').toLowerCase().split(';');
  const known = type.trim();
  if (!DATA_TYPE.test(known)) return BYTES;
  return parameters.some((one) => /^\s*charset=utf-?8\s*$/.test(one)) ? `${known}; charset=utf-8` : known;
}
