/**
 * Reading a chat completion. Owns the shape of the answer and where usage and cost are found; no IO.
 */
import type { IncomingHttpHeaders } from 'node:http';

import { z } from 'zod';

import type { CallUsage } from '../metrics.ts';

export interface LlmToolCall {
  /** Empty when the model gave none. */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface LlmCompletion {
  readonly responseId: string;
  readonly text: string;
  readonly reasoning: string | null;
  readonly toolCalls: readonly LlmToolCall[];
  readonly usage: CallUsage;
}

const count = z.number().min(0).catch(0);
const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  cost: z.number().min(0).nullable().catch(null),
  cache_creation_input_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).catch({ cached_tokens: 0 }),
  completion_tokens_details: z.object({ reasoning_tokens: count }).catch({ reasoning_tokens: 0 }),
});

const textPartsSchema = z
  .array(z.object({ text: z.string().catch('') }))
  .transform((parts) => parts.map((part) => part.text).join(''));

const completionSchema = z.object({
  id: z.string().catch(''),
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.union([z.string(), textPartsSchema]).nullish(),
          reasoning_content: z.string().nullish().catch(null),
          tool_calls: z
            .array(
              z.object({
                id: z.string().catch(''),
                function: z.object({ name: z.string(), arguments: z.string().catch('') }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: usageSchema.nullish().catch(null),
});

/** `x-<vendor>-response-cost` for a session header `x-<vendor>-session-id`; null for a header of another form. */
export function costHeaderOf(sessionHeader: string): string | null {
  const match = /^(x-.+)-session-id$/.exec(sessionHeader.toLowerCase());
  return match === null ? null : `${match[1]}-response-cost`;
}

/** The completion, or null when the answer holds no message. `fallbackId` stands in for a missing response id. */
export function parseCompletion(
  answer: { readonly text: string; readonly headers: IncomingHttpHeaders },
  given: { readonly costHeader: string | null; readonly fallbackId: string },
): LlmCompletion | null {
  const parsed = completionSchema.safeParse(jsonOrNull(answer.text));
  const message = parsed.data?.choices[0]?.message;
  if (parsed.data === undefined || message === undefined) return null;
  const { usage } = parsed.data;
  const responseId = parsed.data.id === '' ? given.fallbackId : parsed.data.id;
  return {
    responseId,
    text: message.content ?? '',
    reasoning: message.reasoning_content ?? null,
    toolCalls: (message.tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
    usage: {
      responseId,
      promptTokens: usage?.prompt_tokens ?? 0,
      completionTokens: usage?.completion_tokens ?? 0,
      cacheReadTokens: usage?.prompt_tokens_details.cached_tokens ?? 0,
      cacheWriteTokens: usage?.cache_creation_input_tokens ?? 0,
      reasoningTokens: usage?.completion_tokens_details.reasoning_tokens ?? 0,
      costUsd: headerCost(answer.headers, given.costHeader) ?? usage?.cost ?? 0,
    },
  };
}

function headerCost(headers: IncomingHttpHeaders, name: string | null): number | null {
  const value = name === null ? undefined : headers[name];
  const cost = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(cost) && cost >= 0 ? cost : null;
}

/** The parsed JSON, or null when the text is none. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
