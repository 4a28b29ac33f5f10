/**
 * Errors that a gateway puts where an answer belongs: into a 200, or into a frame of a stream (D22).
 * Owns finding them and the status that each stands for; must not send anything.
 */
import { asObject, asText, type JsonObject } from './relay/json-value.ts';

/** What an answer with an error in it reports, under `error` as chat has it; null when it reports none. */
export function errorOf(json: JsonObject): JsonObject | null {
  if (isTold(json['error'])) return json;
  const inner = asObject(asObject(json['response'])?.['error']) ?? errorOfChoices(json['choices']);
  if (inner !== null) return { error: inner };
  if (json['type'] !== 'error' && json['object'] !== 'error') return null;
  const { message = null, code = null, param = null } = json;
  const type = json['object'] === 'error' ? (asText(json['type']) ?? 'server_error') : 'server_error';
  return { error: { message, type, param, code } };
}

/** Some gateways write `false` or an empty text where there is none. */
function isTold(error: unknown): boolean {
  return asObject(error) !== null || asText(error) !== null;
}

/** Some gateways say of one choice that it failed. */
function errorOfChoices(choices: unknown): JsonObject | null {
  if (!Array.isArray(choices)) return null;
  for (const value of choices) {
    const choice = asObject(value);
    const error = asObject(choice?.['error']);
    if (error !== null) return error;
    if (choice?.['finish_reason'] !== 'error') continue;
    const message = 'The gateway ended its answer with an error';
    return { message, type: 'server_error', param: null, code: null };
  }
  return null;
}

/** The status that such an error stands for: its own number, else the one of its word, else 502. */
export function statusOfError(frame: JsonObject): number {
  const error = asObject(frame['error']);
  for (const place of [error, frame])
    for (const name of ['code', 'status', 'status_code']) {
      const status = numberIn(place?.[name]);
      if (status !== null) return status;
    }
  const said = [
    error?.['code'],
    error?.['type'],
    error?.['status'],
    frame['error'],
    frame['code'],
    frame['type'],
  ];
  for (const value of said) {
    const status = typeof value === 'string' ? STATUS_OF_WORD.get(plainWord(value)) : undefined;
    if (status !== undefined) return status;
  }
  return UNKNOWN_STATUS;
}

const UNKNOWN_STATUS = 502;
const STATUS_TEXT = /^(?:http[ _-]?)?([45]\d\d)(?!\d)/i;

function numberIn(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const match = STATUS_TEXT.exec(String(value));
  return match === null ? null : Number(match[1]);
}

/** Words of OpenAI, Anthropic, Google, AWS and of servers that pass on the names of Python's exceptions. */
const WORDS: Readonly<Record<number, readonly string[]>> = {
  400: [
    ...['invalid_request', 'bad_request', 'invalid_argument', 'failed_precondition', 'validation'],
    ...['context_length_exceeded', 'context_window_exceeded', 'content_filter', 'content_policy_violation'],
  ],
  401: ['authentication', 'unauthorized', 'unauthenticated', 'invalid_api_key'],
  402: ['payment_required', 'billing', 'insufficient_credits', 'insufficient_balance'],
  403: ['permission', 'permission_denied', 'forbidden', 'access_denied'],
  404: ['not_found', 'model_not_found', 'resource_not_found'],
  408: ['request_timeout'],
  409: ['conflict', 'aborted'],
  413: ['request_too_large', 'payload_too_large'],
  422: ['unprocessable_entity'],
  429: [
    ...['rate_limit', 'rate_limited', 'rate_limit_exceeded', 'rate_limit_reached', 'too_many_requests'],
    ...['throttling', 'throttled', 'resource_exhausted', 'insufficient_quota', 'quota_exceeded'],
  ],
  500: ['server', 'internal', 'internal_server', 'internal_failure', 'api'],
  503: ['service_unavailable', 'unavailable', 'engine_overloaded', 'server_overloaded', 'model_not_ready'],
  504: ['timeout', 'gateway_timeout', 'deadline_exceeded', 'model_timeout'],
  529: ['overloaded'],
};
const STATUS_OF_WORD: ReadonlyMap<string, number> = new Map(
  Object.entries(WORDS).flatMap(([status, words]) => words.map((word) => [word, Number(status)])),
);

/** "RateLimitError", "rate-limit" and "RATE_LIMIT" are one word. */
function plainWord(text: string): string {
  const word = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[\s.-]+/g, '_');
  return word.replace(/_(?:error|exception)$/, '');
}
