/**
 * One line of the access log.
 * Owns what is in it: who, which route, how it ended. No query, body or header: any of them may hold a secret (D20).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface AccessLine {
  readonly at: number;
  readonly requestId: string;
  readonly method: string;
  /** The route's own address, with parameters by name; of an unknown one nothing is kept. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly remote: string;
  readonly userId: string | null;
  readonly keyId: number | null;
}

export function accessLine(request: FastifyRequest, reply: FastifyReply, at: number): AccessLine {
  const { caller } = request;
  return {
    at,
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    remote: request.ip,
    userId: caller?.userId ?? null,
    keyId: caller?.kind === 'key' ? caller.keyId : null,
  };
}
