/**
 * Errors as a caller of the proxy sees them: OpenAI's envelope on every route (D22).
 * Owns status and type of each code; must not hold a key, a gateway's address or a stack.
 */
import { ERROR_CATALOGUE, type ErrorCode } from '../core/error-catalogue.ts';

/** OpenAI's word for each code of the catalogue that a caller of the proxy can meet. */
const TYPES = {
  invalid_request: 'invalid_request_error',
  header_not_sendable: 'invalid_request_error',
  unauthorized: 'authentication_error',
  forbidden: 'permission_error',
  model_not_found: 'invalid_request_error',
  not_found: 'invalid_request_error',
  method_not_allowed: 'invalid_request_error',
  request_too_large: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  budget_exceeded: 'insufficient_quota',
  run_budget_exceeded: 'insufficient_quota',
  budget_held: 'rate_limit_error',
  internal: 'server_error',
  gateway_unreachable: 'server_error',
  gateway_host_unknown: 'server_error',
  gateway_failed: 'server_error',
  store_unavailable: 'server_error',
  gateway_timeout: 'server_error',
} as const satisfies Partial<Record<ErrorCode, string>>;

export type FailureCode = keyof typeof TYPES;

/** OpenAI's clients know 400 for what the application API answers with 422. */
const INVALID_REQUEST_STATUS = 400;

function statusOf(code: FailureCode): number {
  return code === 'invalid_request' ? INVALID_REQUEST_STATUS : ERROR_CATALOGUE[code].status;
}

export interface Failure {
  readonly code: FailureCode;
  readonly status: number;
  readonly message: string;
  /** The field or header at fault; null when it is no single one. */
  readonly param: string | null;
  /** Sent as `retry-after`; absent or null sends none. */
  readonly retryAfterS?: number | null;
}

/** `message` follows "Cannot VERB thing: state". */
export function failure(code: FailureCode, message: string, param: string | null = null): Failure {
  return { code, status: statusOf(code), message, param };
}

/** The envelope, ready to send or to stand in an error frame. */
export function envelope(failed: Failure): string {
  const { code, message, param } = failed;
  return JSON.stringify({ error: { message, type: TYPES[code], param, code } });
}
