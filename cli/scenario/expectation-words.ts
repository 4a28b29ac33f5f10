/**
 * What an expectation came to, in words: when it is asked, what it was about, what led to it.
 * Owns the wording that text, TAP and JUnit share; must not decide what holds.
 */
import { counted } from '../../core/text/counted.ts';
import { formatDuration } from '../../dsl/duration.ts';
import { valueText } from '../../dsl/expression/value-text.ts';
import type { Expectation } from '../../dsl/scenario/scenario.ts';
import { eventText } from '../../simulator/scenario/event-text.ts';
import type { ExpectationResult } from '../../simulator/scenario/play-scenario.ts';
import { instant } from '../../core/text/amounts.ts';

/** `at 12h within 1m`, `eventually within 26h`, or the kind alone. */
export function whenAsked(expectation: Expectation): string {
  switch (expectation.kind) {
    case 'at': {
      const within = expectation.withinMs === 0 ? '' : ` within ${formatDuration(expectation.withinMs)}`;
      return `at ${formatDuration(expectation.atMs)}${within}`;
    }
    case 'eventually':
      return `eventually within ${formatDuration(expectation.withinMs)}`;
    case 'always':
    case 'never':
    case 'end':
      return expectation.kind;
  }
}

/** One line each: when it failed, why it matters, its operands, the last events. Empty when it held. */
export function failureNotes(
  { expectation, failedAfterMs, reason, values, events }: ExpectationResult,
  startAt: number,
): string[] {
  if (failedAfterMs === null) return [];
  return [
    `after ${formatDuration(failedAfterMs)}, at ${instant(startAt + failedAfterMs)}`,
    ...(expectation.why === null ? [] : [`why: ${expectation.why}`]),
    ...(reason === null ? [] : [reason]),
    ...values.map(({ source, value }) => `${source} is ${valueText(value)}`),
    ...(events.length === 0 ? [] : ['last events:']),
    ...events.map((event) => `  ${eventText(event, startAt)}`),
  ];
}

export interface Verdicts {
  readonly total: number;
  /** Of level `error`. */
  readonly failed: number;
  /** That did not hold, of level `warning`. */
  readonly warned: number;
}

export function countVerdicts(results: readonly ExpectationResult[]): Verdicts {
  const notHeld = results.filter(({ held }) => !held);
  const failed = notHeld.filter(({ expectation }) => expectation.level === 'error').length;
  return { total: results.length, failed, warned: notHeld.length - failed };
}

/** `3 of 10 expectations failed`, `10 expectations held, 1 only warned`. */
export function verdictLine({ total, failed, warned }: Verdicts): string {
  const warnings = warned === 0 ? '' : `, ${warned} only warned`;
  if (failed > 0) return `${failed} of ${counted(total, 'expectation')} failed${warnings}`;
  return `${counted(total - warned, 'expectation')} held${warnings}`;
}
