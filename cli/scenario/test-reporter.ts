/**
 * Where the results of `parley test` go as they come: TAP, or records.
 * Owns the choice between the two; each form is in a file of its own.
 */
import { stringify } from 'yaml';
import type { Scenario } from '../../dsl/scenario/scenario.ts';
import { openRecords } from '../../host/records.ts';
import type { TextStream } from '../../host/shell.ts';
import type { ScenarioAnswer } from '../../simulator/scenario/play-scenario.ts';
import {
  expectationRecords,
  countVerdicts,
  failureNotes,
  verdictLine,
  whenAsked,
} from './expectation-words.ts';

export interface TestReporter {
  /** Once, before the first, with how many there will be. */
  begin(count: number): void;
  add(tested: Tested): void;
}

export function testReporter(stdout: TextStream, { json }: { readonly json: boolean }): TestReporter {
  return json ? recordReporter(stdout) : tapReporter(stdout);
}

function tapReporter(stdout: TextStream): TestReporter {
  let number = 0;
  return {
    begin: (count) => void stdout.write(tapHeader(count)),
    add(tested) {
      number += 1;
      stdout.write(tapPoint(tested, number));
    },
  };
}

function recordReporter(stdout: TextStream): TestReporter {
  const records = openRecords(stdout);
  return {
    begin: () => undefined,
    add(tested) {
      if (tested.kind === 'bad') {
        records.write({ type: 'scenario', file: tested.file, held: false, problem: tested.problem });
        return;
      }
      const { file, scenario, answer } = tested;
      const { plan, expectations, seed } = answer;
      const { startAt } = scenario;
      for (const record of expectationRecords(expectations, { file, startAt, seed })) records.write(record);
      records.write({
        type: 'scenario',
        file,
        name: scenario.name,
        seed,
        held: countVerdicts(expectations).failed === 0,
        ...countVerdicts(expectations),
        steps: plan.steps,
        hash: plan.hash,
      });
    },
  };
}

/**
 * Tests as TAP version 14: one test point for a scenario under a seed, a YAML block below one that failed.
 * Owns the protocol; what failed is said in the words of expectation-words.ts.
 */
function tapHeader(count: number): string {
  return `TAP version 14\n1..${count}\n`;
}

/** `number` counts from 1. */
function tapPoint(tested: Tested, number: number): string {
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

/** One scenario file under one seed, as `parley test` found it. */
export type Tested =
  | {
      readonly kind: 'played';
      readonly file: string;
      /** The file itself, for excerpts. */
      readonly text: string;
      readonly scenario: Scenario;
      readonly answer: ScenarioAnswer;
    }
  /** It has errors, which were printed. */
  | { readonly kind: 'bad'; readonly file: string; readonly problem: string };

/** `folder/night.scenario.yaml: night (seed 7)` */
export function testName(tested: Tested): string {
  if (tested.kind === 'bad') return tested.file;
  return `${tested.file}: ${tested.scenario.name} (seed ${tested.answer.seed})`;
}

/** Tests as JUnit XML: a suite for a scenario under a seed, a case for an expectation. */
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
