// Calls in the words of Anthropic's messages: a body read as the chat it amounts to, an answer as a message or as events.
// It must not choose turns or know the price.

import { z } from 'zod';

import type { Answer, ResponseHead, ToolCall } from './answer.ts';
import { readBody, toolsSchema, type ChatMessage, type ChatRequest } from './chat-request.ts';
import type { Usage } from './script/script.ts';
import { fragments } from './stream-frames.ts';
import type { WireForm } from './wire-form.ts';

const blockSchema = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  tool_use_id: z.string().optional(),
});
const contentSchema = z.union([z.string(), z.array(blockSchema)]);
const messageSchema = z.looseObject({
  role: z.enum(['user', 'assistant', 'system']),
  content: contentSchema,
});
const countSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  system: contentSchema.optional(),
});
const requestSchema = countSchema.extend({
  max_tokens: z.number().int().positive(),
  stream: z.boolean().nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  tools: toolsSchema,
});

type Block = z.infer<typeof blockSchema>;

/** Messages, streamed or not. */
export const messagesForm: WireForm = {
  read: readMessages,
  idPrefix: 'msg_',
  body: messageBody,
  frames: (head, answer, { usage }) => messageFrames(head, answer, usage),
};

/** The chat that a body of `count_tokens` amounts to. Throws an ApiError 400 that names the first field at fault. */
export function readCounted(body: unknown): readonly ChatMessage[] {
  return chatOf(readBody(countSchema, body));
}

function readMessages(body: unknown): ChatRequest {
  const request = readBody(requestSchema, body);
  const { model, stream, metadata, tools } = request;
  return { model, messages: chatOf(request), stream, user: metadata?.user_id, tools };
}

function chatOf({ system, messages }: z.infer<typeof countSchema>): ChatMessage[] {
  const head = system === undefined ? [] : [{ role: 'system', content: system }];
  return [...head, ...messages.flatMap(({ role, content }) => chatMessagesOf(role, content))];
}

/** What tools answered stands in a message of the user here, and in messages of its own there. */
function chatMessagesOf(role: string, content: string | readonly Block[]): readonly ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  const texts = content.filter(({ type }) => type === 'text');
  if (role === 'assistant') {
    const ids = content.flatMap(({ type, id }) => (type === 'tool_use' && id !== undefined ? [{ id }] : []));
    return [{ role, content: texts, tool_calls: ids }];
  }
  const results = content.flatMap((block) =>
    block.type === 'tool_result' ? [{ role: 'tool', tool_call_id: block.tool_use_id, content: block }] : [],
  );
  return [...results, ...(texts.length === 0 ? [] : [{ role, content: texts }])];
}

function messageBody(head: ResponseHead, answer: Answer, usage: Usage) {
  const { content, toolCalls } = answer;
  return {
    ...messageHead(head),
    content: [
      ...(content === null ? [] : [{ type: 'text', text: content }]),
      ...toolCalls.map((call) => ({
        ...toolHead(call),
        input: JSON.parse(call.function.arguments) as unknown,
      })),
    ],
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: { input_tokens: usage.promptTokens, output_tokens: usage.completionTokens },
  };
}

function messageHead({ id, model }: ResponseHead) {
  return { id, type: 'message', role: 'assistant', model };
}

function toolHead({ id, function: { name } }: ToolCall) {
  return { type: 'tool_use', id, name };
}

function stopReason({ finishReason }: Answer): string {
  return finishReason === 'tool_calls' ? 'tool_use' : 'end_turn';
}

function* messageFrames(head: ResponseHead, answer: Answer, usage: Usage): Generator<string> {
  const empty = { content: [], stop_reason: null, stop_sequence: null };
  const begun = { input_tokens: usage.promptTokens, output_tokens: Math.min(1, usage.completionTokens) };
  yield event('message_start', { message: { ...messageHead(head), ...empty, usage: begun } });
  yield event('ping', {});
  let index = 0;
  if (answer.content !== null) {
    const deltas = [...fragments(answer.content)].map((text) => ({ type: 'text_delta', text }));
    yield* blockFrames(index, { type: 'text', text: '' }, deltas);
    index += 1;
  }
  for (const call of answer.toolCalls) {
    const parts = [...fragments(call.function.arguments)];
    const deltas = parts.map((part) => ({ type: 'input_json_delta', partial_json: part }));
    yield* blockFrames(index, { ...toolHead(call), input: {} }, deltas);
    index += 1;
  }
  const delta = { stop_reason: stopReason(answer), stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: usage.completionTokens } });
  yield event('message_stop', {});
}

function* blockFrames(index: number, block: object, deltas: readonly object[]): Generator<string> {
  yield event('content_block_start', { index, content_block: block });
  for (const delta of deltas) yield event('content_block_delta', { index, delta });
  yield event('content_block_stop', { index });
}

function event(type: string, body: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
}
