/**
 * What an expectation came to, in words: when it is asked, what it was about, what led to it.
 * Owns the wording that text, TAP and JUnit share; must not decide what holds.
 */
import { formatDuration } from '../../dsl/duration.ts';
import { valueText } from '../../dsl/expression/value-text.ts';
import type { Expectation } from '../../dsl/scenario/scenario.ts';
import type { ExpectationResult } from '../../simulator/scenario/play-scenario.ts';
import type { PastEvent } from '../../simulator/scenario/last-events.ts';
import { instant } from '../print/amounts.ts';

/** Ids are cut to what tells them apart; a trace has them whole. */
const ID_SHOWN = 8;

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

/** `11h59m58s sandbox/1f8e22c0 idleReached: phase=pausing, transition=pausing` */
export function eventText({ at, entity, event, changes }: PastEvent, startAt: number): string {
  const changed = Object.entries(changes).map(
    ([name, value]) => `${name}=${shownValue(name, value, startAt)}`,
  );
  const after = changed.length === 0 ? '' : `: ${changed.join(', ')}`;
  return `${formatDuration(at - startAt)} ${shortEntity(entity)} ${event}${after}`;
}

/** Instants stand as the time since the beginning, like the event itself. */
function shownValue(name: string, value: PastEvent['changes'][string] | undefined, startAt: number): string {
  if (typeof value === 'number' && name.endsWith('At')) return formatDuration(value - startAt);
  return String(value ?? 'none');
}

function shortEntity(entity: string): string {
  const [machine = '', id = ''] = entity.split('/');
  return `${machine}/${id.slice(0, ID_SHOWN)}`;
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
  const noun = total === 1 ? 'expectation' : 'expectations';
  if (failed > 0) return `${failed} of ${total} ${noun} failed${warnings}`;
  return `${total - warned} ${total - warned === 1 ? 'expectation' : 'expectations'} held${warnings}`;
}
