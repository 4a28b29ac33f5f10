/**
 * A chat completion that comes in pieces, as server-sent events.
 * Owns the reading of the pieces and how they add up to the answer that would have come whole. No IO.
 */
import { z } from 'zod';

import { jsonOrNull } from './llm-response.ts';

/** What one piece says, for watching clients. */
export interface LlmPiece {
  /** Empty when the endpoint names none. */
  readonly responseId: string;
  readonly content: string;
  readonly reasoning: string;
}

const words = z.string().nullish().catch(null);
const callSchema = z.object({
  index: z.number().int().min(0).nullish().catch(null),
  id: words,
  function: z.object({ name: words, arguments: words }).nullish().catch(null),
});
const chunkSchema = z.object({
  id: z.string().catch(''),
  choices: z
    .array(
      z.object({
        index: z.number().catch(0),
        finish_reason: z.string().nullish().catch(null),
        delta: z
          .object({
            content: words,
            reasoning_content: words,
            tool_calls: z.array(callSchema).nullish().catch(null),
          })
          .nullish()
          .catch(null),
      }),
    )
    .nullish()
    .catch(null),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
});
type Chunk = z.infer<typeof chunkSchema>;

/** Data of each event that is whole; lines end in a line feed, a carriage return or both. */
export class SseReader {
  #rest = '';

  push(text: string): string[] {
    // A carriage return at the end may be half of a line end.
    const whole = this.#rest + text;
    const open = whole.endsWith('\r') ? '\r' : '';
    const events = whole
      .slice(0, whole.length - open.length)
      .replace(/\r\n?/g, '\n')
      .split('\n\n');
    this.#rest = (events.pop() ?? '') + open;
    return events.flatMap(dataOf);
  }

  /** Of the last event, which nothing ends but the end of the text. */
  end(): string[] {
    return dataOf(this.#rest.replace(/\r/g, ''));
  }
}

function dataOf(event: string): string[] {
  const lines = event.split('\n').filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).replace(/^ /, '')).join('\n')];
}

/** Null for what says nothing: an end, a comment, usage, or something that is no piece of an answer. */
export function pieceOf(data: string): LlmPiece | null {
  const chunk = chunkSchema.safeParse(jsonOrNull(data)).data;
  const delta = chunk === undefined ? null : firstChoice(chunk)?.delta;
  if (chunk === undefined || delta === null || delta === undefined) return null;
  const { content, reasoning_content: reasoning } = delta;
  if ((content ?? '') === '' && (reasoning ?? '') === '') return null;
  return { responseId: chunk.id, content: content ?? '', reasoning: reasoning ?? '' };
}

/** One answer is requested; another one beside it is ignored. */
function firstChoice({ choices }: Chunk) {
  return choices?.find(({ index }) => index === 0) ?? null;
}

type StreamedAnswer =
  | { readonly kind: 'whole'; readonly body: unknown }
  /** An error in place of the rest, with the status that it stands for. */
  | { readonly kind: 'failed'; readonly status: number; readonly body: string }
  | { readonly kind: 'cut' };

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** The answer that the pieces add up to, as one that is not streamed has it. */
export function streamedAnswer(text: string): StreamedAnswer {
  const reader = new SseReader();
  const datas = [...reader.push(text), ...reader.end()];
  const sum = { id: '', content: '', reasoning: '', usage: null as unknown };
  const calls: Call[] = [];
  let isWhole = false;
  let hasChoice = false;
  for (const data of datas) {
    if (data.trim() === '[DONE]') {
      isWhole = true;
      break;
    }
    const chunk = chunkSchema.safeParse(jsonOrNull(data)).data;
    if (chunk === undefined) continue;
    if (chunk.error !== undefined && chunk.error !== null)
      return { kind: 'failed', status: statusOf(chunk.error), body: data };
    if (sum.id === '') sum.id = chunk.id;
    if (chunk.usage !== undefined && chunk.usage !== null) sum.usage = chunk.usage;
    const choice = firstChoice(chunk);
    if (choice === null) continue;
    hasChoice = true;
    if ((choice.finish_reason ?? '') !== '') isWhole = true;
    sum.content += choice.delta?.content ?? '';
    sum.reasoning += choice.delta?.reasoning_content ?? '';
    for (const part of choice.delta?.tool_calls ?? []) addCall(calls, part);
  }
  if (!isWhole) return { kind: 'cut' };
  // As an answer that is whole and holds none.
  if (!hasChoice) return { kind: 'whole', body: {} };
  const message = {
    content: sum.content,
    ...(sum.reasoning === '' ? {} : { reasoning_content: sum.reasoning }),
    tool_calls: calls
      .filter((call) => call !== undefined)
      .map(({ id, ...called }) => ({ id, function: called })),
  };
  return { kind: 'whole', body: { id: sum.id, choices: [{ message }], usage: sum.usage } };
}

/** More calls than this in one answer are not meant. */
const CALLS_MAX = 1_000;

/** Some endpoints count their calls, others begin the next one by its id. */
function addCall(calls: Call[], part: z.infer<typeof callSchema>): void {
  const last = calls.length - 1;
  const isNew = (part.id ?? '') !== '' && part.id !== calls[last]?.id;
  const at = part.index ?? (isNew ? last + 1 : Math.max(0, last));
  if (at > CALLS_MAX) return;
  const call = (calls[at] ??= { id: '', name: '', arguments: '' });
  if (call.id === '') call.id = part.id ?? '';
  call.name += part.function?.name ?? '';
  call.arguments += part.function?.arguments ?? '';
}

/** Numbers of errors stand in either field; without one it is the endpoint's own failure. */
function statusOf(error: unknown): number {
  const { status, code } = Object(error) as { readonly status?: unknown; readonly code?: unknown };
  const found = [status, code].map(Number).find((one) => one >= 400 && one < 600);
  return found ?? 502;
}
