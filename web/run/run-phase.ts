/**
 * One word for where a run is: its mode where that is not the normal one, else its phase.
 * Owns the choice; pure.
 */
import type { ResultOf } from '../../api/client/client.ts';
import { labelOf } from '../text/words.ts';

export function phaseOf({ phase, mode }: { readonly phase: string; readonly mode: string }): string {
  return mode === 'normal' || phase === 'finished' ? phase : mode;
}

/** What is tried again at this moment, since when, and when next. */
export function troubleText(trouble: NonNullable<RunRecord['trouble']>): string {
  const { what, cause, since, tries, next_at: nextAt } = trouble;
  const time = (instant: string): string => instant.slice(11, 19);
  return `Trouble with ${what} since ${time(since)}, try ${tries}, next at ${time(nextAt)} UTC: ${cause}`;
}

/** In normal mode a reason is what the next item waits for; in any other, why the run is in it. */
export function reasonText({ mode, reason }: Pick<RunRecord, 'mode' | 'reason'>): string {
  const words = (reason ?? '').replaceAll('_', ' ');
  return mode === 'normal' ? `The next item waits: ${words}.` : `${labelOf(mode)}: ${words}.`;
}

/** A run and its items as the API answers them. */
export type RunRecord = ResultOf<'get_run'>;
export type RunItem = ResultOf<'search_run_items'>['items'][number];
