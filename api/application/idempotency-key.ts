/**
 * The header by which a caller repeats a request without doing it twice.
 * Owns its form and bound.
 */
import type { FastifyRequest } from 'fastify';
import { invalid } from './validation.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Null when none was sent. @throws InvalidRequest */
export function idempotencyKeyOf(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined || header === '') return null;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw invalid(['header', 'Idempotency-Key'], 'Input should be 1 to 255 visible ASCII characters');
}
