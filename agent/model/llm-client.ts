/**
 * Model calls: one completion, with the retries that a restarting proxy and a rate limit call for.
 * Owns when a call is tried again and when it is given up. Knows nothing of conversations or events.
 */
import type { Conversation } from '../conversation/conversation.ts';
import { errorCode, postJson, type PostAnswer, type PostOptions } from '../serve/endpoint.ts';
import {
  LLM_BACKOFF_MS_MAX,
  LLM_BACKOFF_MS_MIN,
  LLM_MALFORMED_RETRIES_MAX,
  LLM_RATE_LIMIT_RETRIES_MAX,
  LLM_RESPONSE_BYTES_MAX,
  LLM_RETRY_AFTER_MS_MAX,
  TROUBLE_CHARS_MAX,
} from '../limits.ts';
import { lastingRefusal, LlmError, refusalError, upstreamMessage } from './llm-error.ts';
import { costHeaderOf, parseCompletion, type LlmCompletion } from './llm-response.ts';
import { pieceOf, SseReader, streamedAnswer, type LlmPiece } from './llm-stream.ts';
import { messageOf, type Log } from '../serve/log.ts';
import type { World } from '../world.ts';

export interface LlmCall {
  /** Without `/chat/completions`. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Names the cost header of answers too. */
  readonly sessionHeader: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** How long network failures are retried, from the first one of a row. */
  readonly retryWindowMs: number;
  /** Null: the answer is requested as a whole. */
  readonly streaming: Streaming | null;
}

/** Receives an answer as it comes. One that comes whole all the same is as good. */
export interface Streaming {
  onPiece(piece: LlmPiece): void;
  /** The endpoint refuses to stream: it is called again at once, and not for a stream. */
  onRefused(): void;
}

const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 500, 502, 503, 504, 529]);

type Attempt =
  | { readonly kind: 'no_stream' }
  | { readonly kind: 'completed'; readonly completion: LlmCompletion }
  | { readonly kind: 'unreachable' | 'malformed'; readonly reason: string }
  | { readonly kind: 'limited'; readonly reason: string; readonly retryAfterMs: number | null };

/**
 * The model's answer.
 *
 * @throws LlmError the endpoint refused, stayed unreachable or limited, or answered without a message
 * @throws AbortError the signal fired
 */
export async function completeChat(call: LlmCall, around: Around): Promise<LlmCompletion> {
  const failing: Failing = { tries: 0 };
  try {
    return await completeWithRetries(call, around, failing);
  } finally {
    // Given up or done: the error, or what follows, says so.
    if (failing.tries > 0) around.onTrouble(null);
  }
}

interface Around {
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with every failed try that is followed by another one, and with null at the end of them. */
  readonly onTrouble: (failed: FailedTry | null) => void;
}

interface Failing {
  tries: number;
}

async function completeWithRetries(call: LlmCall, around: Around, failing: Failing): Promise<LlmCompletion> {
  const { world, signal } = around;
  let unreachableSinceMs: number | null = null;
  let failures = 0;
  let limits = 0;
  let malformed = 0;
  let isRefused = false;
  for (;;) {
    const attempt = await attemptChat(call, { ...around, isStreamed: call.streaming !== null && !isRefused });
    if (attempt.kind === 'no_stream') {
      isRefused = true;
      call.streaming?.onRefused();
      continue;
    }
    if (attempt.kind === 'completed') return attempt.completion;
    let waitMs: number;
    if (attempt.kind === 'limited') {
      waitMs = limitedWaitMs(attempt.reason, attempt.retryAfterMs, limits);
      limits += 1;
    } else if (attempt.kind === 'malformed') {
      if (malformed >= LLM_MALFORMED_RETRIES_MAX)
        throw new LlmError('LLMMalformedResponseError', attempt.reason);
      waitMs = backoffMs(malformed);
      malformed += 1;
    } else {
      unreachableSinceMs ??= world.nowMs();
      const leftMs = unreachableSinceMs + call.retryWindowMs - world.nowMs();
      if (leftMs <= 0) throw new LlmError('LLMServiceUnavailableError', attempt.reason);
      waitMs = Math.min(backoffMs(failures), leftMs);
      failures += 1;
    }
    if (attempt.kind !== 'unreachable') [unreachableSinceMs, failures] = [null, 0];
    failing.tries += 1;
    around.onTrouble({ cause: attempt.reason, tries: failing.tries, waitMs });
    around.log('warning', 'model call is tried again', { reason: attempt.reason, wait_ms: waitMs });
    await world.sleep(waitMs, signal);
  }
}

interface Attempting {
  readonly world: World;
  readonly signal: AbortSignal;
  readonly isStreamed: boolean;
}

async function attemptChat(call: LlmCall, { world, signal, isStreamed }: Attempting): Promise<Attempt> {
  let answer: PostAnswer;
  try {
    answer = await postJson(`${call.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      ...(isStreamed ? streamedRequest(call) : { headers: call.headers, body: JSON.stringify(call.body) }),
      timeoutMs: call.timeoutMs,
      responseBytesMax: LLM_RESPONSE_BYTES_MAX,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    // A restarting proxy shows itself in many codes; none of them says that a later try is useless.
    const reason = `Cannot reach model endpoint "${call.baseUrl}": ${errorCode(error)} ${messageOf(error)}`;
    return { kind: 'unreachable', reason };
  }
  if (answer.status >= 200 && answer.status < 300) {
    const streamed = isJsonText(answer.text) ? null : streamedAnswer(answer.text);
    if (streamed?.kind === 'cut' && isStreamed)
      return { kind: 'unreachable', reason: `Cannot read answer of "${call.baseUrl}": the stream was cut` };
    if (streamed?.kind === 'failed') answer = { ...answer, status: streamed.status, text: streamed.body };
    else if (streamed?.kind === 'whole')
      return readCompletion(call, { ...answer, text: JSON.stringify(streamed.body) }, world);
    else return readCompletion(call, answer, world);
  }
  if (isStreamed && refusesStreams(answer)) return { kind: 'no_stream' };
  const refusal = lastingRefusal(answer.status, answer.text);
  if (refusal !== null) throw refusal;
  const reason = upstreamMessage(answer.status, answer.text);
  if (answer.status === 429) {
    return { kind: 'limited', reason, retryAfterMs: retryAfterMs(answer.headers, world.nowMs()) };
  }
  if (RETRIED_STATUSES.has(answer.status)) return { kind: 'unreachable', reason };
  throw refusalError(answer.status, answer.text);
}

/** With usage: without it the cost of the answer would be unknown. */
function streamedRequest(call: LlmCall): Pick<PostOptions, 'headers' | 'body' | 'onEventText'> {
  const reader = new SseReader();
  return {
    headers: { ...call.headers, accept: 'text/event-stream, application/json' },
    body: JSON.stringify({ ...call.body, stream: true, stream_options: { include_usage: true } }),
    onEventText: (text) => {
      for (const data of reader.push(text)) {
        const piece = pieceOf(data);
        if (piece !== null) call.streaming?.onPiece(piece);
      }
    },
  };
}

function isJsonText(text: string): boolean {
  return text.trimStart().startsWith('{');
}

/** Endpoints that cannot stream say so, and name the field. */
const NO_STREAM_STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 422, 501]);

function refusesStreams({ status, text }: PostAnswer): boolean {
  return NO_STREAM_STATUSES.has(status) && /\bstream(?:ing|ed|s|_options)?\b/i.test(text);
}

function readCompletion(call: LlmCall, answer: PostAnswer, world: World): Attempt {
  const completion = parseCompletion(answer, {
    costHeader: costHeaderOf(call.sessionHeader),
    fallbackId: `response-${world.uuid()}`,
  });
  if (completion !== null) return { kind: 'completed', completion };
  return { kind: 'malformed', reason: 'Cannot complete chat: the answer holds no message' };
}

function backoffMs(failures: number): number {
  return Math.min(LLM_BACKOFF_MS_MAX, LLM_BACKOFF_MS_MIN * 2 ** failures);
}

/** @throws LlmError the retries are used up, or the endpoint asks for a longer wait than a run may hold */
function limitedWaitMs(reason: string, askedMs: number | null, limits: number): number {
  if (limits >= LLM_RATE_LIMIT_RETRIES_MAX || (askedMs ?? 0) > LLM_RETRY_AFTER_MS_MAX) {
    throw new LlmError('LLMRateLimitError', reason, askedMs);
  }
  return askedMs ?? backoffMs(limits);
}

/** The wait an answer asks for: `retry-after-ms`, or `retry-after` as seconds or as a date. */
function retryAfterMs(headers: PostAnswer['headers'], nowMs: number): number | null {
  const exact = String(headers['retry-after-ms'] ?? '').trim();
  if (/^\d+(?:\.\d+)?$/.test(exact)) return Number(exact);
  const value = headers['retry-after'];
  if (value === undefined || value.trim() === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - nowMs);
}

/**
 * A model that cannot be reached, reported while it lasts: a state update for each failed try, and one when it is over.
 * Owns the form of that event; when a call is tried again is the client's to say.
 */
interface FailedTry {
  readonly cause: string;
  /** Failed tries of this call. */
  readonly tries: number;
  readonly waitMs: number;
}

/** Key of the state update; its value is null when the trouble is over. */
const KEY = 'model_trouble';

/** Null: the call went through, or was given up, which the status then says. */
export function tellModelTrouble(conversation: Conversation, failed: FailedTry | null): void {
  const value =
    failed === null
      ? null
      : {
          cause: failed.cause.slice(0, TROUBLE_CHARS_MAX),
          tries: failed.tries,
          wait_ms: Math.round(failed.waitMs),
        };
  try {
    conversation.appendState(KEY, value);
  } catch {
    // A disk that is full now may have room when the call has gone through: reporting must not end the run.
  }
}
