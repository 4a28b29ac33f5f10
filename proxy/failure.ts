/**
 * Errors as a caller of the proxy sees them: OpenAI's envelope on every route (D22).
 * Owns status and type of each code; must not hold a key, a gateway's address or a stack.
 */

const FAILURES = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  header_not_sendable: { status: 400, type: 'invalid_request_error' },
  unauthorized: { status: 401, type: 'authentication_error' },
  forbidden: { status: 403, type: 'permission_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  not_found: { status: 404, type: 'invalid_request_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  internal: { status: 500, type: 'server_error' },
  gateway_unreachable: { status: 502, type: 'server_error' },
  gateway_failed: { status: 502, type: 'server_error' },
  store_unavailable: { status: 503, type: 'server_error' },
  gateway_timeout: { status: 504, type: 'server_error' },
} as const satisfies Record<string, { readonly status: number; readonly type: string }>;

export type FailureCode = keyof typeof FAILURES;

export interface Failure {
  readonly code: FailureCode;
  readonly status: number;
  readonly message: string;
  /** The field or header at fault; null when it is no single one. */
  readonly param: string | null;
}

/** `message` follows "Cannot VERB thing: state". */
export function failure(code: FailureCode, message: string, param: string | null = null): Failure {
  return { code, status: FAILURES[code].status, message, param };
}

/** The envelope, ready to send or to stand in an error frame. */
export function envelope(failed: Failure): string {
  const { code, message, param } = failed;
  return JSON.stringify({ error: { message, type: FAILURES[code].type, param, code } });
}
