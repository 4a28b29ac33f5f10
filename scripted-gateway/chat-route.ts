// One chat completion from request to answer: who, which turn, wait, bill, send. Billing is on disk before the first byte.
// It must not parse scripts or know how rows are kept.

import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { answerOf, completionBody, estimateUsage } from './answer.ts';
import { ApiError, errorTypeOf } from './api-error.ts';
import { attributionOf } from './attribution.ts';
import type { Attribution } from './attribution.ts';
import { parseChatRequest } from './chat-request.ts';
import type { ChatRequest } from './chat-request.ts';
import { chooseTurn } from './choose-turn.ts';
import type { TurnChoice } from './choose-turn.ts';
import { formatUsd } from './decimal-usd.ts';
import { hasGap } from './gap-text.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { KeyHolder } from './key-ring.ts';
import { price } from './price.ts';
import type { AnswerTurn, ErrorTurn, ModelPrice, Usage } from './script.ts';
import { streamFrames } from './stream-frames.ts';
import { findWorkingDir } from './working-dir.ts';

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

/** Adds the route under its two usual paths. */
export function addChatRoute(server: FastifyInstance, context: GatewayContext): void {
  for (const path of ['/v1/chat/completions', '/chat/completions']) {
    server.post(path, (request, reply) => answerChat(request, reply, context));
  }
}

async function answerChat(
  http: FastifyRequest,
  reply: FastifyReply,
  context: GatewayContext,
): Promise<FastifyReply> {
  const call = readCall(http, reply, context);
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
    return await answerTurn(call, { ...choice, workingDir }, { reply, context });
  } catch (error) {
    // Nobody is there to read an error, and a call whose client left before it was billed costs nothing.
    if (call.signal.aborted) return reply.hijack();
    throw error;
  }
}

function readCall(http: FastifyRequest, reply: FastifyReply, context: GatewayContext): Call {
  const startMs = context.nowMs();
  const holder = context.ring(http.headers.authorization);
  const request = parseChatRequest(http.body);
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
  out: { readonly reply: FastifyReply; readonly context: GatewayContext },
): Promise<FastifyReply> {
  const { reply, context } = out;
  await context.sleep(choice.answer.latencyMs ?? context.script.latencyMs, call.signal);
  const answer = answerOf(choice.answer, choice);
  const usage = choice.answer.usage ?? estimateUsage(answer, call.request.messages);
  const endMs = context.nowMs();
  const id = `chatcmpl-${context.randomId()}`;
  const cost = await bill(call, { id, endMs, usage }, context);
  const head = { id, created: Math.floor(endMs / 1000), model: call.request.model };
  reply.header(costHeader, cost);
  if (call.request.stream !== true) return reply.send(completionBody(head, answer, usage));
  const includeUsage = call.request.stream_options?.include_usage === true;
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(streamFrames(head, answer, usage, { includeUsage })));
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
