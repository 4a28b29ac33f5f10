/**
 * States of a run and of its items in the words that all outputs share.
 * Owns the wording; must not lay anything out.
 */
import type { RunItemRow, RunRow } from '../machine/projection.ts';
import { HELD_BY_USER } from './control.ts';
import { countWell, OUTCOMES } from '../status.ts';
import type { Trouble } from '../trouble.ts';
import { timeOfDay } from '../text/amounts.ts';

/** What an item is doing, or how it ended. */
export function itemState(item: RunItemRow): string {
  if (item.phase === 'ended') return endedState(item);
  if (item.trouble != null) return `${item.phase} (trouble)`;
  if (item.phase === 'waiting' && item.attempt > 0) return `waiting (attempt ${item.attempt} ended)`;
  if (item.waitsFor !== undefined) return `waiting: ${item.waitsFor}`;
  const { executionStatus } = item;
  const isSpecial = executionStatus !== null && executionStatus !== 'RUNNING' && executionStatus !== 'IDLE';
  return item.phase === 'working' && isSpecial ? `working (${executionStatus.toLowerCase()})` : item.phase;
}

/** `check_failed`; with its class where that says more: `failed (stuck)`. */
export function endedState({ outcome, failureClass }: Pick<RunItemRow, 'outcome' | 'failureClass'>): string {
  const words = outcome ?? 'ended';
  return failureClass === null || failureClass === words ? words : `${words} (${failureClass})`;
}

/** What a run is doing, or why it rests. */
export function runState(row: RunRow): string {
  if (row.phase === 'finished') return 'finished';
  if (row.mode === 'normal') return row.phase;
  return row.reason === null ? row.mode : `${row.mode}: ${row.reason}`;
}

/** Nothing is in flight and nothing begins by itself; not a run that a user paused, who means to resume it. */
export function isResting(row: RunRow): boolean {
  if (row.phase !== 'running' || row.inFlight > 0) return false;
  return row.mode === 'draining' || (row.mode === 'paused' && row.reason !== HELD_BY_USER);
}

/** What keeps the next item from beginning while the run goes on; null when nothing does. */
export function limitInForce(row: RunRow): string | null {
  return row.phase === 'running' && row.mode === 'normal' && row.waiting > 0 ? row.reason : null;
}

/** What a cleaning run waits for: `2 sandboxes to archive and remove (docs/cli and 1 more)`; null in other phases. */
export function cleaningUp(row: RunRow, items: readonly RunItemRow[]): string | null {
  if (row.phase !== 'cleaning') return null;
  const left = items.filter(({ sandboxStatus }) => sandboxStatus !== null && sandboxStatus !== 'MISSING');
  const [first] = left;
  if (first === undefined) return null;
  const noun = left.length === 1 ? 'sandbox' : 'sandboxes';
  const others = left.length === 1 ? '' : ` and ${left.length - 1} more`;
  return `${left.length} ${noun} to archive and remove (${first.key}${others})`;
}

/** Items that have ended, however they did. */
export function countEnded(row: RunRow): number {
  return OUTCOMES.reduce((sum, outcome) => sum + (row.ended[outcome] ?? 0), 0);
}

/** Ended otherwise than well. */
export function countUnsuccessful(row: RunRow): number {
  return countEnded(row) - countWell(row.ended);
}

/** `done 3/5, running 1, waiting 1, failed 0` */
export function runCounts(row: RunRow): string {
  return [
    `done ${countEnded(row)}/${row.total}`,
    `running ${row.inFlight}`,
    `waiting ${row.waiting}`,
    `failed ${countUnsuccessful(row)}`,
  ].join(', ');
}

/** `trouble with model since 04:31:05, try 3, next 04:31:11: Cannot reach …`; the cause last, because it may be cut. */
export function troubleText({ what, cause, since, tries, nextAt }: Trouble): string {
  return `trouble with ${what} since ${timeOfDay(since)}, try ${tries}, next ${timeOfDay(nextAt)}: ${cause}`;
}

/** Enough of an id to find it again. */
export function shortId(id: string | null): string {
  return id === null ? '-' : id.slice(0, 8);
}
