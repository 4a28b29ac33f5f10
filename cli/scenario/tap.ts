/**
 * Tests as TAP version 14: one test point for a scenario under a seed, a YAML block below one that failed.
 * Owns the protocol; what failed is said in the words of expectation-words.ts.
 */
import { stringify } from 'yaml';
import { countVerdicts, failureNotes, verdictLine, whenAsked } from './expectation-words.ts';
import { testName, type Tested } from './tested.ts';

export function tapHeader(count: number): string {
  return `TAP version 14\n1..${count}\n`;
}

/** `number` counts from 1. */
export function tapPoint(tested: Tested, number: number): string {
  const name = escaped(testName(tested));
  if (tested.kind === 'bad') return `not ok ${number} - ${name}\n${block({ message: tested.problem })}`;
  const { expectations } = tested.answer;
  const verdicts = countVerdicts(expectations);
  const notHeld = expectations.filter(({ held }) => !held);
  const ok = verdicts.failed === 0 ? 'ok' : 'not ok';
  if (notHeld.length === 0) return `${ok} ${number} - ${name}\n`;
  const details = {
    message: verdictLine(verdicts),
    file: tested.file,
    seed: tested.answer.seed,
    expectations: notHeld.map((result) => ({
      name: result.expectation.name,
      level: result.expectation.level,
      when: whenAsked(result.expectation),
      that: result.expectation.that.source,
      line: result.expectation.span.line,
      column: result.expectation.span.column,
      notes: failureNotes(result, tested.scenario.startAt),
    })),
  };
  return `${ok} ${number} - ${name}\n${block(details)}`;
}

/** A description ends at `#`, where a directive would begin, and at the end of the line. */
function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\#]/g, '\\$&');
}

function block(details: object): string {
  const lines = stringify(details, { lineWidth: 0 }).trimEnd().split('\n');
  return `${['---', ...lines, '...'].map((line) => `  ${line}`.trimEnd()).join('\n')}\n`;
}
