/**
 * What is not an event yet, as it grows: words of the agent by their answer, output of commands by their action.
 * Owns what is kept of it, and that the event takes its place; pure.
 */
import type { PartialEvent, StreamedEvent } from '../../api/client/client.ts';

/** Of one text; of more, the end is kept. */
export const WORDS_CHARS_MAX = 65_536;
export const OUTPUT_CHARS_MAX = 16_384;
/** Answers and commands at once: an agent gives one after the other. */
const KEPT_MAX = 4;

export interface PartialWords {
  /** Empty where the agent does not know it. */
  readonly responseId: string;
  readonly content: string;
  readonly reasoning: string;
}

export interface PartialTexts {
  readonly words: readonly PartialWords[];
  /** By the id of the action. */
  readonly outputs: ReadonlyMap<string, string>;
}

export const NO_PARTIALS: PartialTexts = { words: [], outputs: new Map() };

export function withPartial(before: PartialTexts, partial: PartialEvent): PartialTexts {
  if (partial.kind === 'StreamingOutputEvent') {
    const { action_id: id, content } = partial;
    const outputs = new Map(before.outputs);
    const text = ((outputs.get(id) ?? '') + content).slice(-OUTPUT_CHARS_MAX);
    outputs.delete(id);
    outputs.set(id, text);
    const [oldest] = outputs.keys();
    if (outputs.size > KEPT_MAX && oldest !== undefined) outputs.delete(oldest);
    return { ...before, outputs };
  }
  const { llm_response_id: id, content, reasoning_content: reasoning } = partial;
  const responseId = id ?? '';
  const known = before.words.find((one) => one.responseId === responseId);
  const grown: PartialWords = {
    responseId,
    content: ((known?.content ?? '') + (content ?? '')).slice(-WORDS_CHARS_MAX),
    reasoning: ((known?.reasoning ?? '') + (reasoning ?? '')).slice(-WORDS_CHARS_MAX),
  };
  return { ...before, words: [...before.words.filter((one) => one !== known), grown].slice(-KEPT_MAX) };
}

/** The events that came have all of the text that came before them. */
export function withoutEvents(before: PartialTexts, events: readonly StreamedEvent[]): PartialTexts {
  return events.reduce(withoutEvent, before);
}

function withoutEvent(before: PartialTexts, { event }: StreamedEvent): PartialTexts {
  if (before.words.length === 0 && before.outputs.size === 0) return before;
  // The agent does not run any more, so no event follows for these texts.
  if (event['key'] === 'execution_status' && event['value'] !== 'running') return NO_PARTIALS;
  const { action_id: action, llm_response_id: response } = event;
  const outputs = new Map(before.outputs);
  if (typeof action === 'string') outputs.delete(action);
  if (typeof response !== 'string' || event['source'] !== 'agent') return { ...before, outputs };
  const at = before.words.findIndex((one) => one.responseId === response);
  // Those before it were failed tries, or have no id.
  return { words: before.words.slice(at + 1).filter((one) => one.responseId !== ''), outputs };
}
