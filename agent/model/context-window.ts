/**
 * Keeping the prompt below its bound. Pure: it names events to forget; the log itself never shrinks.
 */
import { PROMPT_TRIM_SHARE } from '../limits.ts';
import type { ConversationEvent } from '../conversation/event.ts';
import { turnMessages } from './prompt.ts';
import type { Turn } from '../conversation/turns.ts';

/** Characters per token, on the low side for code, so that the estimate errs towards trimming. */
const CHARS_PER_TOKEN = 3.5;
/** What an image counts as: models bill it by its area, not by the length of its data. */
const IMAGE_CHARS = 6_000;
/** The most recent turns stay whatever their size: an agent that forgets its last step repeats it. */
const RECENT_TURNS_KEPT = 4;

export function forgottenIds(events: readonly ConversationEvent[]): Set<string> {
  return new Set(events.flatMap((event) => (event.kind === 'Condensation' ? event.forgotten_event_ids : [])));
}

/** The turns that are still in the prompt. */
export function rememberedTurns(turns: readonly Turn[], forgotten: ReadonlySet<string>): Turn[] {
  return turns.filter((turn) => !forgotten.has(eventIdsOf(turn)[0] ?? ''));
}

/**
 * Ids of events to forget so that the prompt fits, oldest first; empty when it fits or nothing may go.
 * Whole turns go, so a tool call never loses its result; user messages and the latest turns never go.
 */
export function eventsToForget(
  turns: readonly Turn[],
  bound: { readonly tokensMax: number; readonly baseChars: number },
): string[] {
  const sizes = turns.map(promptChars);
  let total = sizes.reduce((sum, size) => sum + size, bound.baseChars);
  if (total / CHARS_PER_TOKEN <= bound.tokensMax) return [];
  const goal = bound.tokensMax * PROMPT_TRIM_SHARE * CHARS_PER_TOKEN;
  const forget: string[] = [];
  for (const [index, turn] of turns.slice(0, -RECENT_TURNS_KEPT).entries()) {
    if (total <= goal) break;
    if (turn.kind === 'message' && turn.event.source === 'user') continue;
    forget.push(...eventIdsOf(turn));
    total -= sizes[index] ?? 0;
  }
  return forget;
}

/** Ids of everything that may be forgotten: all but user messages and the latest turns. */
export function forgettableIds(turns: readonly Turn[]): string[] {
  return turns.slice(0, -RECENT_TURNS_KEPT).flatMap((turn) => {
    return turn.kind === 'message' && turn.event.source === 'user' ? [] : eventIdsOf(turn);
  });
}

function eventIdsOf(turn: Turn): string[] {
  if (turn.kind === 'message') return [turn.event.id];
  return turn.steps.flatMap(({ action, result }) => (result === null ? [action.id] : [action.id, result.id]));
}

function promptChars(turn: Turn): number {
  let imageChars = 0;
  const text = JSON.stringify(turnMessages(turn), (key: string, value: unknown) => {
    if (key !== 'image_url') return value;
    imageChars += IMAGE_CHARS;
    return null;
  });
  return text.length + imageChars;
}
