/**
 * Events of a conversation that hold some words.
 * Owns the reading from the first to the last, of which no more than the matches is kept.
 */
import type { Client } from '../../api/client/client.ts';
import { actionDetail } from './action-text.ts';
import { eventText, isForPeople, type TranscriptEvent } from './event-text.ts';

/** More are not listed: the words are too common to lead anywhere. */
export const MATCHES_MAX = 200;
const AROUND_CHARS = 60;
/** After so many events the progress of the reading is reported. */
const TELL_EVERY = 200;

export interface EventMatch {
  readonly seq: number;
  readonly who: string;
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

export interface Finding {
  readonly id: string;
  readonly total: number;
  readonly words: string;
  readonly signal: AbortSignal;
  tell(change: { readonly matches: readonly EventMatch[]; readonly read: number }): void;
}

export async function findEvents(client: Client, { id, total, words, signal, tell }: Finding): Promise<void> {
  const matches: EventMatch[] = [];
  if (total === 0) return;
  for await (const { seq, event } of client.events(id, { signal })) {
    const match = matchOf(seq, event, words);
    if (match !== null) matches.push(match);
    if (seq % TELL_EVERY === 0 || seq >= total) tell({ matches: [...matches], read: seq });
    if (seq >= total || matches.length >= MATCHES_MAX) break;
  }
  tell({ matches, read: total });
}

/** Null for an event that does not hold them, and for one that people never see. */
export function matchOf(seq: number, event: TranscriptEvent, words: string): EventMatch | null {
  if (!isForPeople(event)) return null;
  const { who, head, body } = eventText(event);
  const text = [head, body, event.kind === 'ActionEvent' ? editText(event) : '']
    .filter((part) => part !== '')
    .join('\n');
  const at = text.toLowerCase().indexOf(words.toLowerCase());
  if (at === -1) return null;
  const end = at + words.length;
  return {
    ...{ seq, who: who === '' ? 'State' : who, match: text.slice(at, end) },
    before: text.slice(Math.max(0, at - AROUND_CHARS), at),
    after: text.slice(end, end + AROUND_CHARS),
  };
}

function editText(event: TranscriptEvent): string {
  const detail = actionDetail(event);
  return detail.kind === 'edit' ? `${detail.before}\n${detail.after}` : '';
}
