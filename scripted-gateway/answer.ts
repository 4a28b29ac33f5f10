// A turn as an answer on the wire: the assistant message, its token counts, the completion object.
// It must not cut anything into frames or know the price.

import { formatCallId } from './call-id.ts';
import type { ChatRequest } from './chat-request.ts';
import { fillGaps, inJson } from './script/gap-text.ts';
import type { AnswerTurn, Usage } from './script/script.ts';

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

/** What an answer needs to know beside its turn. */
interface AnswerPlace {
  readonly scriptName: string;
  readonly turnIndex: number;
  /** What stands in every gap of the turn; of no account for a turn without one. */
  readonly workingDir: string;
}

/** The answer of a turn, its gaps filled, with ids that name it. */
export function answerOf(turn: AnswerTurn, { scriptName, turnIndex, workingDir }: AnswerPlace): Answer {
  const toolCalls = turn.calls.map((call, callIndex): ToolCall => {
    const id = formatCallId({ scriptName, turnIndex, callIndex });
    const text = fillGaps(call.argumentsJson, inJson(workingDir));
    return { id, type: 'function', function: { name: call.tool, arguments: text } };
  });
  return {
    content: turn.say === null ? null : fillGaps(turn.say, workingDir),
    toolCalls,
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
  };
}

/** One token for every four bytes begun: of the messages as JSON, and of the answer's texts. */
export function estimateUsage(answer: Answer, messages: ChatRequest['messages']): Usage {
  const calls = answer.toolCalls.flatMap((call) => [call.function.name, call.function.arguments]);
  return {
    promptTokens: tokensOf(JSON.stringify(messages)),
    completionTokens: tokensOf([answer.content ?? '', ...calls].join('')),
  };
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
