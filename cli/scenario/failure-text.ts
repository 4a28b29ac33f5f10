/**
 * Expectations that did not hold, drawn like findings: place, sentence, the line with a caret, notes.
 * Owns the order of the parts; the words are in expectation-words.ts, the drawing in dsl/read/excerpt.ts.
 */
import { withoutMark } from '../../dsl/read/decode-source.ts';
import { createExcerpts } from '../../dsl/read/excerpt.ts';
import type { ExpectationResult } from '../../simulator/scenario/play-scenario.ts';
import { failureNotes, whenAsked } from './expectation-words.ts';

export interface ScenarioSource {
  readonly file: string;
  readonly text: string;
}

/** One block of lines for each that did not hold, in the order of the file. */
export function failureBlocks(
  results: readonly ExpectationResult[],
  { file, text }: ScenarioSource,
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
export function oneLine(source: string): string {
  return source.replace(/\s+/g, ' ');
}
