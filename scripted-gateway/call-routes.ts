// One call from request to answer: who, which turn, wait, bill, send. Billing is on disk before the first byte.
// It must not parse scripts or know how rows are kept.

import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerOf, completionBody, estimateUsage } from './answer.ts';
import { ApiError, errorTypeOf } from './api-error.ts';
import { attributionOf, type Attribution } from './attribution.ts';
import { parseChatRequest, type ChatRequest } from './chat-request.ts';
import { chooseTurn, type TurnChoice } from './script/choose-turn.ts';
import { formatUsd, divideHalfEven } from './decimal-usd.ts';
import { hasGap } from './script/gap-text.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { KeyHolder } from './key-ring.ts';
import { messagesForm, readCounted } from './messages-form.ts';
import { presentedKey } from './presented-key.ts';
import type { AnswerTurn, ErrorTurn, ModelPrice, Usage } from './script/script.ts';
import { streamFrames } from './stream-frames.ts';
import type { WireForm } from './wire-form.ts';
import { findWorkingDir } from './script/working-dir.ts';

/** The header that carries what a call was billed, in USD. */
export const costHeader = 'x-scripted-response-cost';

/** A request that may be answered, with everything known about it. */
interface Call {
  readonly startMs: number;
  readonly holder: KeyHolder;
  readonly request: ChatRequest;
  readonly modelPrice: ModelPrice;
  readonly attribution: Attribution;
  readonly signal: AbortSignal;
}

type PlacedTurn = Extract<TurnChoice, { kind: 'turn' }>;

const chatForm: WireForm = {
  read: parseChatRequest,
  idPrefix: 'chatcmpl-',
  body: completionBody,
  frames: (head, answer, { usage, request }) =>
    streamFrames(head, answer, usage, { includeUsage: request.stream_options?.include_usage === true }),
};

/** Adds chat completions under their two usual paths, and messages with their count. */
export function addCallRoutes(server: FastifyInstance, context: GatewayContext): void {
  const forms = {
    '/v1/chat/completions': chatForm,
    '/chat/completions': chatForm,
    '/v1/messages': messagesForm,
  };
  for (const [path, form] of Object.entries(forms)) {
    server.post(path, (request, reply) => answerCall(request, reply, { context, form }));
  }
  server.post('/v1/messages/count_tokens', (request) => {
    const nothing = { content: null, toolCalls: [], finishReason: 'stop' } as const;
    return { input_tokens: estimateUsage(nothing, [...readCounted(request.body)]).promptTokens };
  });
}

/** What a call is answered from, and in which words. */
interface Answering {
  readonly context: GatewayContext;
  readonly form: WireForm;
}

async function answerCall(
  http: FastifyRequest,
  reply: FastifyReply,
  { context, form }: Answering,
): Promise<FastifyReply> {
  const call = readCall(http, reply, { context, form });
  const choice = chooseTurn(call.request, context.script);
  if (choice.kind === 'noScript') {
    throw new ApiError({
      status: 400,
      type: 'invalid_request_error',
      message: 'Cannot answer: no script fits the first user message',
      param: 'messages',
    });
  }
  // Before anything is answered or marked: a script that does not fit its agent is found out at once.
  const workingDir = workingDirFor(choice.answer, call.request, context);
  try {
    await answerPendingError(call, choice, context);
    return await answerTurn(call, { ...choice, workingDir }, { reply, context, form });
  } catch (error) {
    // The client has left and reads no error, and a call whose client left before it was billed costs nothing.
    if (call.signal.aborted) return reply.hijack();
    throw error;
  }
}

function readCall(http: FastifyRequest, reply: FastifyReply, { context, form }: Answering): Call {
  const startMs = context.nowMs();
  const holder = context.ring(presentedKey(http.headers));
  const request = form.read(http.body);
  const leaving = new AbortController();
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) leaving.abort();
  });
  return {
    startMs,
    holder,
    request,
    modelPrice: priceFor(request.model, holder, context),
    attribution: attributionOf(http.headers, holder.tags),
    signal: leaving.signal,
  };
}

function priceFor(model: string, holder: KeyHolder, context: GatewayContext): ModelPrice {
  const modelPrice = context.script.models.get(model);
  if (modelPrice === undefined) {
    throw new ApiError({
      status: 400,
      type: 'invalid_request_error',
      message: `Cannot answer: unknown model "${model}", see GET /v1/models`,
      param: 'model',
    });
  }
  if (holder.models === null || holder.models.includes(model)) return modelPrice;
  throw new ApiError({
    status: 403,
    type: 'key_model_access_denied',
    message: `Cannot answer: key "${holder.name}" may not use model "${model}"`,
    param: 'model',
  });
}

/** The directory for the gaps of a turn; empty when it has none. Throws an ApiError 400 when no message names it. */
function workingDirFor(turn: AnswerTurn, request: ChatRequest, { script }: GatewayContext): string {
  if (![turn.say ?? [], ...turn.calls.map((call) => call.argumentsJson)].some(hasGap)) return '';
  const { from, pattern } = script.workingDir;
  const found = findWorkingDir(request.messages, script.workingDir);
  if (found !== null) return found;
  throw new ApiError({
    status: 400,
    type: 'invalid_request_error',
    message: `Cannot answer: no ${from} message names the working directory: nothing matches "${pattern.source}"`,
    param: 'messages',
  });
}

/** Throws the first error of the choice that this caller has not had; returns when there is none. */
async function answerPendingError(call: Call, choice: PlacedTurn, context: GatewayContext): Promise<void> {
  const caller = call.attribution.sessionId ?? `key ${call.holder.name}`;
  const markOf = (turnIndex: number) => ({ scriptName: choice.scriptName, turnIndex, caller });
  const pending = choice.errors.find(({ turnIndex }) => context.answeredErrors.add(markOf(turnIndex)));
  if (pending === undefined) return;
  try {
    await context.sleep(pending.turn.latencyMs ?? context.script.latencyMs, call.signal);
  } catch (error) {
    context.answeredErrors.remove(markOf(pending.turnIndex));
    throw error;
  }
  throw scriptedError(pending.turn);
}

function scriptedError(turn: ErrorTurn): ApiError {
  return new ApiError({
    status: turn.status,
    type: errorTypeOf(turn.status),
    message: turn.message,
    retryAfterSeconds: turn.retryAfterSeconds,
  });
}

async function answerTurn(
  call: Call,
  choice: PlacedTurn & { readonly workingDir: string },
  out: Answering & { readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { reply, context, form } = out;
  await context.sleep(choice.answer.latencyMs ?? context.script.latencyMs, call.signal);
  const answer = answerOf(choice.answer, choice);
  const usage = choice.answer.usage ?? estimateUsage(answer, call.request.messages);
  const endMs = context.nowMs();
  const id = `${form.idPrefix}${context.randomId()}`;
  const cost = await bill(call, { id, endMs, usage }, context);
  const head = { id, created: Math.floor(endMs / 1000), model: call.request.model };
  reply.header(costHeader, cost);
  if (call.request.stream !== true) return reply.send(form.body(head, answer, usage));
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no')
    .send(
      Readable.from(
        paced({ frames: form.frames(head, answer, { usage, request: call.request }), choice, call, context }),
      ),
    );
}

/** Frames as fast as they are read, or one after a wait each. Ends early when the caller has left. */
async function* paced({ frames, choice, call, context }: Paced): AsyncGenerator<string> {
  const { pieceMs } = choice.answer;
  for (const frame of frames) {
    if (pieceMs !== undefined) await context.sleep(pieceMs, call.signal);
    yield frame;
  }
}

interface Paced {
  readonly frames: Iterable<string>;
  readonly choice: PlacedTurn;
  readonly call: Call;
  readonly context: GatewayContext;
}

/** Writes the row and returns the amount in USD. Throws an ApiError 503 when the row cannot be kept. */
async function bill(
  call: Call,
  billed: { readonly id: string; readonly endMs: number; readonly usage: Usage },
  context: GatewayContext,
): Promise<string> {
  const cost = formatUsd(price(billed.usage, call.modelPrice));
  const row = {
    request_id: billed.id,
    time_start: new Date(call.startMs).toISOString(),
    time_end: new Date(billed.endMs).toISOString(),
    model: call.request.model,
    api_key_name: call.holder.name,
    tags: call.attribution.tags,
    session_id: call.attribution.sessionId,
    metadata: call.attribution.metadata,
    user: call.request.user ?? null,
    prompt_tokens: billed.usage.promptTokens,
    completion_tokens: billed.usage.completionTokens,
    cost_usd: cost,
    status: 'success',
  } as const;
  try {
    await context.ledger.append(row);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'Cannot bill call';
    throw new ApiError({ status: 503, type: 'server_error', message });
  }
  return cost;
}

const tokensPerMillion = 1_000_000n;

/**
 * Nano-USD of one call. Input and output are added first and rounded once, half to even:
 * a price with up to three digits after the point is a whole number of nano-USD per token and never rounds.
 */
export function price(usage: Usage, model: ModelPrice): bigint {
  const input = BigInt(usage.promptTokens) * model.inputNanoUsdPerMillion;
  const output = BigInt(usage.completionTokens) * model.outputNanoUsdPerMillion;
  return divideHalfEven(input + output, tokensPerMillion);
}
