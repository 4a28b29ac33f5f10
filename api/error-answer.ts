/**
 * Errors as answers of the local servers: `{"detail", "code"}` with the status of the code.
 * Owns the translation; must not send a caller more than the error's own sentence.
 */
import type { FastifyInstance } from 'fastify';
import { asParleyError, ParleyError } from '../core/parley-error.ts';

export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, _request, reply) => {
    const known = isRefusedBody(error)
      ? new ParleyError('invalid_request', error.message)
      : asParleyError(error);
    return reply.code(known.status).send({ detail: known.message, code: known.code });
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ detail: 'Not Found', code: 'not_found' }),
  );
}

/** What the HTTP library itself refuses: too large, not JSON, another content type. A repeat would change nothing. */
function isRefusedBody(error: unknown): error is Error {
  if (!(error instanceof Error) || !('statusCode' in error)) return false;
  return typeof error.statusCode === 'number' && error.statusCode >= 400 && error.statusCode < 500;
}
