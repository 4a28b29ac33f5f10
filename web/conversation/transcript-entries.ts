/**
 * Events of a transcript as entries: each action stands together with what came of it.
 * Owns the pairing, durations and exit codes; pure.
 */
import type { StreamedEvent } from '../../api/client/client.ts';
import { parsedInstant } from '../text/time.ts';
import { isForPeople, type TranscriptEvent } from './event-text.ts';

export interface TranscriptEntry {
  /** Of its first event, and therefore its own. */
  readonly seq: number;
  readonly event: TranscriptEvent;
  /** What an action came to; null while it runs, waits or was lost, and for what is no action. */
  readonly result: TranscriptEvent | null;
}

export function entriesOf(events: readonly StreamedEvent[]): readonly TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  const placeOf = new Map<string, number>();
  for (const { seq, event } of events) {
    if (!isForPeople(event)) continue;
    const at = actionPlace(placeOf, event);
    const entry = at === undefined ? undefined : entries[at];
    if (at !== undefined && entry !== undefined && entry.result === null) {
      entries[at] = { ...entry, result: event };
      continue;
    }
    if (event.kind === 'ActionEvent') {
      placeOf.set(event.id, entries.length);
      if (typeof event['tool_call_id'] === 'string') placeOf.set(event['tool_call_id'], entries.length);
    }
    entries.push({ seq, event, result: null });
  }
  return entries;
}

function actionPlace(places: ReadonlyMap<string, number>, event: TranscriptEvent): number | undefined {
  if (event.kind === 'ActionEvent') return undefined;
  const { action_id: action, tool_call_id: call } = event;
  const byAction = typeof action === 'string' ? places.get(action) : undefined;
  return byAction ?? (typeof call === 'string' ? places.get(call) : undefined);
}

/** From the action to its result; null without one, or where a time cannot be read. */
export function durationMs({ event, result }: TranscriptEntry): number | null {
  if (result === null) return null;
  const ms = instantOf(result) - instantOf(event);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

export function instantOf(event: TranscriptEvent): number {
  return parsedInstant(String(event['timestamp'] ?? ''));
}

/** Null where nothing was run, or it has not ended: an agent server says -1 for that. */
export function exitCodeOf(result: TranscriptEvent | null): number | null {
  const observation = result?.['observation'];
  if (typeof observation !== 'object' || observation === null) return null;
  const code = (observation as Readonly<Record<string, unknown>>)['exit_code'];
  return typeof code === 'number' && code >= 0 ? code : null;
}

/** Entries of the same answer of a model share its cost: it stands at the first. */
export function costsOf(
  entries: readonly TranscriptEntry[],
  nanoUsdOf: ReadonlyMap<string, number>,
): ReadonlyMap<number, number> {
  const seen = new Set<string>();
  const costs = new Map<number, number>();
  for (const { seq, event } of entries) {
    const id = event['llm_response_id'];
    if (typeof id !== 'string' || seen.has(id)) continue;
    seen.add(id);
    const cost = nanoUsdOf.get(id);
    if (cost !== undefined) costs.set(seq, cost);
  }
  return costs;
}
