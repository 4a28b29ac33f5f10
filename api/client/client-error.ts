/**
 * An answer that is an error, as the client throws it.
 * Owns the reading of both spellings of `detail` (D4).
 */

export class ClientError extends Error {
  readonly status: number;
  /** From the catalogue of errors; null when the answer had none. */
  readonly code: string | null;
  /** A sentence, or the findings of a request that does not fit. */
  readonly detail: unknown;
  /** What the server says to wait; null when it says nothing. */
  readonly retryAfterMs: number | null;

  constructor(status: number, body: unknown, retryAfterMs: number | null) {
    const { detail = null, code = null } = (body ?? {}) as {
      readonly detail?: unknown;
      readonly code?: string;
    };
    super(`${status} ${code ?? ''}: ${typeof detail === 'string' ? detail : JSON.stringify(detail)}`);
    this.name = 'ClientError';
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}
