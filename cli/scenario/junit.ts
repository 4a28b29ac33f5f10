/**
 * Tests as JUnit XML: a suite for a scenario under a seed, a case for an expectation.
 * Owns the form that CI servers read; times are left out, because virtual time is not how long a test took.
 */
import { failureNotes, whenAsked } from './expectation-words.ts';
import { testName, type Tested } from './tested.ts';

export function junitXml(all: readonly Tested[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="parley test">\n${all.map(suite).join('')}</testsuites>\n`;
}

interface Case {
  readonly name: string;
  /** Null: it passed. */
  readonly failure: { readonly message: string; readonly text: string } | null;
}

function suite(tested: Tested): string {
  const cases = casesOf(tested);
  const failures = cases.filter(({ failure }) => failure !== null).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="0"`;
  const body = cases.map((one) => caseXml(one, tested.file)).join('');
  return `  <testsuite name="${attribute(testName(tested))}" ${counts}>\n${body}  </testsuite>\n`;
}

function casesOf(tested: Tested): Case[] {
  if (tested.kind === 'bad')
    return [{ name: 'compiles', failure: { message: 'the file has errors', text: tested.problem } }];
  const { scenario, answer } = tested;
  return answer.expectations.map((result) => {
    const { expectation, held } = result;
    const name = `${whenAsked(expectation)}: ${expectation.name}`;
    if (held || expectation.level === 'warning') return { name, failure: null };
    const text = failureNotes(result, scenario.startAt).join('\n');
    return { name, failure: { message: expectation.that.source, text } };
  });
}

function caseXml({ name, failure }: Case, file: string): string {
  const open = `    <testcase name="${attribute(name)}" classname="${attribute(file)}"`;
  if (failure === null) return `${open}/>\n`;
  const message = attribute(failure.message);
  return `${open}>\n      <failure message="${message}">${content(failure.text)}</failure>\n    </testcase>\n`;
}

function attribute(text: string): string {
  return content(text.replace(/\s+/g, ' ')).replaceAll('"', '&quot;');
}

/** XML 1.0 has no way to write most control characters. */
function content(text: string): string {
  return [...text]
    .map((character) =>
      /[\p{Cc}\ufffe\uffff]/u.test(character) && !/[\n\t]/.test(character) ? '\ufffd' : character,
    )
    .join('')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
