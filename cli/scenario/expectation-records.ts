/**
 * Expectations as records of `--json`, those that held included.
 * Owns the names of the fields; instants are milliseconds since the beginning.
 */
import { valueText } from '../../dsl/expression/value-text.ts';
import type { ExpectationResult } from '../../simulator/scenario/play-scenario.ts';
import type { JsonRecord } from '../../host/records.ts';

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
