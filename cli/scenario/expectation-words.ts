/**
 * What an expectation came to, in words: when it is asked, what it was about, what led to it.
 * Owns the wording that text, TAP and JUnit share; must not decide what holds.
 */
import { counted } from '../../core/text/counted.ts';
import { formatDuration } from '../../dsl/duration.ts';
import { valueText } from '../../dsl/expression/value-text.ts';
import { withoutMark } from '../../dsl/read/decode-source.ts';
import { createExcerpts } from '../../dsl/read/excerpt.ts';
import type { Expectation } from '../../dsl/scenario/scenario.ts';
import type { JsonRecord } from '../../host/records.ts';
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

/** Expectations as records of `--json`, those that held included. */
export function expectationRecords(
  results: readonly ExpectationResult[],
  { file, startAt, seed }: { readonly file: string; readonly startAt: number; readonly seed: number },
): JsonRecord[] {
  return results.map(({ expectation, held, failedAfterMs, values, reason, events }) => ({
    type: 'expectation',
    file,
    line: expectation.span.line,
    column: expectation.span.column,
    seed,
    name: expectation.name,
    kind: expectation.kind,
    level: expectation.level,
    why: expectation.why,
    expression: expectation.that.source,
    held,
    at_ms: failedAfterMs,
    reason,
    values: values.map(({ source, value }) => ({ source, value: valueText(value) })),
    events: events.map(({ at, entity, event, changes }) => ({
      at_ms: at - startAt,
      entity,
      event,
      changes,
    })),
  }));
}

/** One block of lines for each that did not hold, in the order of the file. */
export function failureBlocks(
  results: readonly ExpectationResult[],
  { file, text }: { readonly file: string; readonly text: string },
  startAt: number,
): string[][] {
  const excerpts = createExcerpts(withoutMark(text), []);
  return results
    .filter(({ held }) => !held)
    .map((result) => {
      const { expectation } = result;
      const { span, level, name, that } = expectation;
      const named = name === that.source ? '' : `${name}: `;
      return [
        `${file}:${span.line}:${span.column}: ${level}: ${named}${whenAsked(expectation)}: ${oneLine(that.source)}`,
        ...excerpts.draw(span),
        ...failureNotes(result, startAt).map((note) => `      = ${note}`),
      ];
    });
}

/** An expression may be written over several lines. */
function oneLine(source: string): string {
  return source.replace(/\s+/g, ' ');
}
