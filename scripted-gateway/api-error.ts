// Errors as an OpenAI client expects them: one class, one envelope.
// It must not decide when an error happens.

/** An answer that is an error. `type` is the word clients match on; `param` names the field at fault. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(options: {
    readonly status: number;
    readonly type: string;
    readonly message: string;
    readonly param?: string | null;
    readonly retryAfterSeconds?: number | null;
  }) {
    super(options.message);
    this.status = options.status;
    this.type = options.type;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** The JSON body of an error; `code` is the status as text. */
export function errorEnvelope(error: ApiError) {
  return {
    error: { message: error.message, type: error.type, param: error.param, code: String(error.status) },
  };
}

/** The same for a client of messages. */
export function messagesErrorEnvelope(error: ApiError) {
  const type = error.status >= 500 ? 'api_error' : error.type;
  return { type: 'error', error: { type, message: error.message } };
}

/** The `type` a vendor gives an error of this status. */
export function errorTypeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
