// An answer cut into server-sent frames, as a vendor streams it. Pure: a generator of texts.
// It must not wait, count tokens or write to a socket.

import { usageBody, type Answer, type ResponseHead, type ToolCall } from './answer.ts';
import type { Usage } from './script/script.ts';

/** No text is cut into more pieces than this, whatever its length. */
const fragmentsMax = 64;

/** No piece but the last is shorter than this many characters. */
const fragmentCharsMin = 8;

/** Every frame of a streamed response, `[DONE]` included. With `includeUsage` each frame has `usage`, null but in the last. */
export function* streamFrames(
  head: ResponseHead,
  answer: Answer,
  usage: Usage,
  options: { readonly includeUsage: boolean },
): Generator<string> {
  const frame = (choices: readonly unknown[], last = false): string => {
    const count = options.includeUsage ? { usage: last ? usageBody(usage) : null } : {};
    return encodeFrame({ ...frameHead(head), choices, ...count });
  };
  for (const delta of deltas(answer)) yield frame([{ index: 0, delta, finish_reason: null }]);
  yield frame([{ index: 0, delta: {}, finish_reason: answer.finishReason }]);
  if (options.includeUsage) yield frame([], true);
  yield 'data: [DONE]\n\n';
}

function frameHead(head: ResponseHead) {
  return { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model };
}

function encodeFrame(body: unknown): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function* deltas(answer: Answer): Generator<unknown> {
  yield { role: 'assistant', content: answer.content === null ? null : '' };
  for (const content of fragments(answer.content ?? '')) yield { content };
  for (const [index, call] of answer.toolCalls.entries()) yield* callDeltas(call, index);
}

function* callDeltas(call: ToolCall, index: number): Generator<unknown> {
  const opening = { name: call.function.name, arguments: '' };
  yield { tool_calls: [{ index, id: call.id, type: call.type, function: opening }] };
  for (const part of fragments(call.function.arguments)) {
    yield { tool_calls: [{ index, function: { arguments: part } }] };
  }
}

/** Pieces of a text that never cut a character in two. */
export function* fragments(text: string): Generator<string> {
  const chars = Array.from(text);
  const size = Math.max(fragmentCharsMin, Math.ceil(chars.length / fragmentsMax));
  for (let start = 0; start < chars.length; start += size) yield chars.slice(start, start + size).join('');
}
