// A turn as an answer on the wire: the assistant message, its token counts, the completion object.
// It must not cut anything into frames or know the price.

import { formatCallId } from './call-id.ts';
import type { ChatRequest } from './chat-request.ts';
import type { AnswerTurn, Usage } from './script.ts';

/** One tool call of an assistant message. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What the model says. */
export interface Answer {
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'tool_calls';
}

/** What every frame and object of one response repeats. */
export interface ResponseHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** The answer of a turn, with ids that name it. */
export function answerOf(
  turn: AnswerTurn,
  place: { readonly scriptName: string; readonly turnIndex: number },
): Answer {
  const toolCalls = turn.calls.map((call, callIndex): ToolCall => {
    const id = formatCallId({ ...place, callIndex });
    return { id, type: 'function', function: { name: call.tool, arguments: call.argumentsJson } };
  });
  return { content: turn.say, toolCalls, finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop' };
}

/** The turn's own counts, or one token for every four bytes begun: of the messages as JSON, and of the answer's texts. */
export function usageOf(turn: AnswerTurn, messages: ChatRequest['messages']): Usage {
  if (turn.usage !== null) return turn.usage;
  const answer = [turn.say ?? '', ...turn.calls.flatMap((call) => [call.tool, call.argumentsJson])].join('');
  return { promptTokens: tokensOf(JSON.stringify(messages)), completionTokens: tokensOf(answer) };
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** Token counts as the wire spells them. */
export function usageBody(usage: Usage) {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

/** The whole response of a call that is not streamed. */
export function completionBody(head: ResponseHead, answer: Answer, usage: Usage) {
  const message = {
    role: 'assistant',
    content: answer.content,
    ...(answer.toolCalls.length > 0 ? { tool_calls: answer.toolCalls } : {}),
  };
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: answer.finishReason }],
    usage: usageBody(usage),
  };
}
