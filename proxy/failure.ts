/**
 * Errors as a caller of the proxy sees them: in the envelope of the route's own words, OpenAI's wherever it has none (D22).
 * Owns status and type of each code; must not hold a key, a gateway's address or a stack.
 */
import { ERROR_CATALOGUE, type ErrorCode } from '../core/error-catalogue.ts';
import type { RouteWords } from './relay/relay-kind.ts';

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
export function envelope(failed: Failure, words: RouteWords = 'openai'): string {
  const { code, status, message, param } = failed;
  switch (words) {
    case 'openai':
      return JSON.stringify({ error: { message, type: TYPES[code], param, code } });
    case 'anthropic':
      return JSON.stringify({
        type: 'error',
        error: { type: anthropicType(status), message, details: { error_code: code, param } },
      });
  }
}

const ANTHROPIC_TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

/** Anthropic's word for an error of this status. */
export function anthropicType(status: number): string {
  return ANTHROPIC_TYPES.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}
