/**
 * One word for where a run is: its mode where that is not the normal one, else its phase.
 * Owns the choice; pure.
 */
import { labelOf } from '../text/words.ts';
import type { RunRecord } from './run-types.ts';

export function phaseOf({ phase, mode }: { readonly phase: string; readonly mode: string }): string {
  return mode === 'normal' || phase === 'finished' ? phase : mode;
}

/** What is tried again at this moment, since when, and when next. */
export function troubleText({
  what,
  cause,
  since,
  tries,
  next_at: nextAt,
}: NonNullable<RunRecord['trouble']>): string {
  const time = (instant: string): string => instant.slice(11, 19);
  return `Trouble with ${what} since ${time(since)}, try ${tries}, next at ${time(nextAt)} UTC: ${cause}`;
}

/** In normal mode a reason is what the next item waits for; in any other, why the run is in it. */
export function reasonText({
  mode,
  reason,
}: {
  readonly mode: string;
  readonly reason: string | null;
}): string {
  const words = (reason ?? '').replaceAll('_', ' ');
  return mode === 'normal' ? `The next item waits: ${words}.` : `${labelOf(mode)}: ${words}.`;
}
