/**
 * Headers of a request or answer that passes through the relay.
 * Owns what stays behind: what belongs to one connection, and keys of ours that an Agent Server must not see.
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

export function requestHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name) && !OURS.has(name));
  return { ...Object.fromEntries(passed), host: 'agent', connection: 'close' };
}

export function answerHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(
    ([name]) => !OF_ONE_CONNECTION.has(name) && name !== 'set-cookie',
  );
  return Object.fromEntries(passed);
}
