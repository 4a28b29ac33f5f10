/**
 * Answers to what never becomes a request: headers that are too long, bytes that are no HTTP, an address that is none.
 * Owns these answers; they have the form of every other error (D4), and nothing of what was sent is in them (D20).
 */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error-catalogue.ts';

/** Address and headers together; Node's own default, said here because the longest parameter depends on it. */
export const HEADER_BYTES_MAX = 16_384;

const DETAILS = {
  headers_too_large: 'Cannot take the request: its address and headers are too long',
  request_timeout: 'Cannot take the request: it came too slowly',
  invalid_request: 'Cannot read the request: it is no HTTP',
} as const satisfies Partial<Record<ErrorCode, string>>;
type Code = keyof typeof DETAILS;

/** What Node's parser gives up on; the connection ends with the answer. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const code = codeOf(error.code);
  const { status } = ERROR_CATALOGUE[code];
  const body = JSON.stringify({ detail: DETAILS[code], code });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  if (!socket.writable) return void socket.destroy(error);
  // Ended, not cut off: a client that is still sending would otherwise not read why.
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function codeOf(word: string | undefined): Code {
  if (word === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return word === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'invalid_request';
}

/** An address that the router cannot decode. */
export function refuseAddress(_error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  const { status } = ERROR_CATALOGUE.invalid_request;
  void reply.code(status).send({ detail: 'Cannot read the address of the request', code: 'invalid_request' });
}
