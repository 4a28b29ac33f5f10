/**
 * What went wrong with a model call, in the words events use. Owns the mapping from status to code and class.
 */
import type { Classification } from '../conversation/event.ts';
import { LLM_ERROR_CHARS_MAX } from '../limits.ts';
import { jsonOrNull } from './llm-response.ts';
import { boundText } from '../text-bound.ts';

type LlmErrorCode =
  | 'LLMRateLimitError'
  | 'LLMServiceUnavailableError'
  | 'LLMAuthenticationError'
  | 'LLMQuotaError'
  | 'LLMNotFoundError'
  | 'LLMContextWindowExceedError'
  | 'LLMBadRequestError'
  | 'LLMMalformedResponseError';

export class LlmError extends Error {
  readonly code: LlmErrorCode;
  readonly classification: Classification;
  /** When the endpoint wants to be asked again, in milliseconds from now; null when it did not say. */
  readonly retryAfterMs: number | null;

  constructor(code: LlmErrorCode, message: string, retryAfterMs: number | null = null) {
    super(boundText(message, LLM_ERROR_CHARS_MAX));
    this.code = code;
    this.classification = classificationOf(code);
    this.retryAfterMs = retryAfterMs;
  }
}

function classificationOf(code: LlmErrorCode): Classification {
  switch (code) {
    case 'LLMRateLimitError':
      return { kind: 'rate_limit', retryable: true, user_action: 'retry' };
    case 'LLMServiceUnavailableError':
    case 'LLMMalformedResponseError':
      return { kind: 'transient', retryable: true, user_action: 'retry' };
    case 'LLMAuthenticationError':
      return { kind: 'auth', retryable: false, user_action: 'settings' };
    case 'LLMQuotaError':
      return { kind: 'quota', retryable: false, user_action: 'settings' };
    case 'LLMNotFoundError':
    case 'LLMBadRequestError':
      return { kind: 'config', retryable: false, user_action: 'settings' };
    case 'LLMContextWindowExceedError':
      return { kind: 'config', retryable: false, user_action: 'none' };
    default:
      return code satisfies never;
  }
}

/** The error of a definite refusal: a 4xx other than 429. */
export function refusalError(status: number, body: string): LlmError {
  const message = upstreamMessage(status, body);
  if (status === 401 || status === 403) return new LlmError('LLMAuthenticationError', message);
  if (status === 402) return new LlmError('LLMQuotaError', message);
  if (status === 404) return new LlmError('LLMNotFoundError', message);
  if (/context_length_exceeded|maximum context length|context window/i.test(body)) {
    return new LlmError('LLMContextWindowExceedError', message);
  }
  return new LlmError('LLMBadRequestError', message);
}

/** What an account answers that is used up: waiting does not help, so it is no rate limit. */
const QUOTA_CODES: ReadonlySet<unknown> = new Set([
  'insufficient_quota',
  'quota_exceeded',
  'billing_hard_limit_reached',
]);
/** How our proxy says that there is no such gateway; every other failure to reach one may pass. */
const HOST_UNKNOWN = 'gateway_host_unknown';

/** A refusal that will not change by itself, although its status is one that is tried again; null for any other. */
export function lastingRefusal(status: number, body: string): LlmError | null {
  const envelope = jsonOrNull(body) as { error?: { code?: unknown; type?: unknown } } | null;
  const { code, type } = Object(envelope?.error) as { code?: unknown; type?: unknown };
  const message = upstreamMessage(status, body);
  if (code === HOST_UNKNOWN) return new LlmError('LLMNotFoundError', message);
  // A budget of a key begins anew; its code is then another one, under the same type.
  const isQuota = QUOTA_CODES.has(code) || (code == null && QUOTA_CODES.has(type));
  return status === 429 && isQuota ? new LlmError('LLMQuotaError', message) : null;
}

/** The upstream's own sentence, from an OpenAI error envelope or the body itself. */
export function upstreamMessage(status: number, body: string): string {
  const envelope = jsonOrNull(body) as { error?: { message?: unknown } | string; detail?: unknown } | null;
  const error = envelope?.error;
  const told = typeof error === 'string' ? error : (error?.message ?? envelope?.detail);
  return `Cannot complete chat: status ${status}: ${typeof told === 'string' ? told : body}`;
}
