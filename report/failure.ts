/**
 * What went wrong with an item, for the reader who has to act on it: what failed, why, and its last output.
 * Pure; owns the choice of texts; must not lay anything out.
 */
import { outcomeSentence } from '../core/run/outcome-words.ts';
import { endedWell } from '../core/status.ts';
import { plainLines } from './plain-text.ts';
import type { ReportItem } from './report-data.ts';
import { cut } from './report-words.ts';

/** Whose last lines they are. */
export type FailedPart = 'check' | 'agent' | 'sandbox';

/** An item that ended without success, and what is known of the cause. */
export interface Failure {
  readonly key: string;
  /** How it ended, as a sentence: `The agent made no more progress`. */
  readonly outcome: string;
  /** Why, as it was recorded; null when nothing was. */
  readonly reason: string | null;
  readonly part: FailedPart;
  /** The last lines of what failed; empty where it left none. */
  readonly lines: readonly string[];
}

/** The same number as for a check. */
const LINES_MAX = 20;
const LINE_CHARACTERS_MAX = 300;

/** Each may have twenty lines; the others are in the table. */
export const FAILURES_SHOWN_MAX = 50;
const REASON_CHARACTERS_MAX = 1_000;

/** As plain text, a line break where it has one. */
export function shownReason(reason: string): string {
  return plainLines(cut(reason, REASON_CHARACTERS_MAX)).join('\n');
}

/** Ended without success; an item that waits or was left out has not failed. */
export function hasFailed({ row }: Pick<ReportItem, 'row'>): boolean {
  if (row?.phase !== 'ended' || endedWell(row.outcome)) return false;
  return row.outcome !== 'waiting' && row.outcome !== 'skipped';
}

/** In the order of the plan; cancelled items come after those that failed by themselves. */
export function failuresOf(items: readonly ReportItem[]): readonly Failure[] {
  const failed = items.filter(hasFailed);
  const wasCancelled = ({ row }: ReportItem): boolean => row?.outcome === 'cancelled';
  return [...failed.filter((item) => !wasCancelled(item)), ...failed.filter(wasCancelled)].map(failureOf);
}

function failureOf(item: ReportItem): Failure {
  const part = partOf(item);
  const { key, row } = item;
  const outcome = row === null ? 'It has not begun yet' : outcomeSentence(row);
  return { key, outcome, reason: row?.detail ?? null, part, lines: linesOf(item, part) };
}

function partOf({ row }: ReportItem): FailedPart {
  if (row?.outcome === 'check_failed') return 'check';
  return row?.failureClass === 'infra' ? 'sandbox' : 'agent';
}

/** A failed sandbox leaves nothing but the reason. */
function linesOf({ check, answer }: ReportItem, part: FailedPart): readonly string[] {
  if (part === 'check') return check;
  if (part === 'sandbox' || answer === null) return [];
  return answer.text
    .trimEnd()
    .split(/\r?\n/)
    .slice(-LINES_MAX)
    .map((line) => (line.length > LINE_CHARACTERS_MAX ? `${line.slice(0, LINE_CHARACTERS_MAX)}…` : line));
}
