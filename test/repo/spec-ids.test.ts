/** Breaks the law about the ids of the specification, and the question that is asked after a whole run. */
import { describe, expect, it } from 'vitest';
import { idsOfSpec, idsOfTitle, unshownIds } from '../../scripts/spec-ids.js';
import { specIds } from './laws/spec-ids.ts';
import { madeUp } from './tree.ts';

const page = (...ids: readonly string[]) =>
  `# S\n\nText with [G99] in it.\n\n| a | b |\n| - | - |\n${ids.map((id) => `| [${id}] x | y |\n`).join('')}`;
/** Of the other letter; put together, as this page's own titles are read, too. */
const C2 = ['C', 2].join('');
// Put together here, so that this file does not carry titles that the law would read.
const title = (ids: string, words: string) => `it('${ids}${': '}${words}', () => {});\n`;

describe('the ids of the specification', () => {
  it('stand at the start of a row, of an item or of a sentence', () => {
    const text = '1. [G1] one\n- [G2] two\n[C3] three\n| [G4] four | x |\nnot [G5] five\n| x | [G6] |\n';
    expect(idsOfSpec(text)).toEqual(['G1', 'G2', 'C3', 'G4']);
  });

  it('come first in a title', () => {
    expect(idsOfTitle(`G1, ${C2}: both hold`)).toEqual(['G1', C2]);
    expect(
      ['G1 holds', 'so G1: holds', 'D7: a decision', `G1,${C2}: no`].flatMap((one) => idsOfTitle(one)),
    ).toEqual([]);
  });

  it('are each in a title, and titles have no other', () => {
    const tests = { 'test/a.test.ts': title('G1, G2', 'hold') + title('G9', 'holds') };
    expect(specIds(madeUp({ 'docs/spec.md': page('G1', 'G2', 'G3', 'G1'), ...tests }))).toEqual([
      'docs/spec.md: G1 stands there more than once',
      'docs/spec.md: no title of a test begins with "G3: "',
      'test/a.test.ts:2: docs/spec.md has no G9',
    ]);
    expect(specIds(madeUp({ 'docs/spec.md': page('G1', 'G2', 'G9'), ...tests }))).toEqual([]);
  });
});

describe('unshownIds()', () => {
  const report = (tests: Readonly<Record<string, string>>) =>
    JSON.stringify({
      testResults: [
        { assertionResults: Object.entries(tests).map(([name, status]) => ({ title: name, status })) },
      ],
    });
  const ask = (tests: Readonly<Record<string, string>>, strict = false) =>
    unshownIds({ specText: page('G1', C2), reportText: report(tests), strict });
  const missing = (id: string) => `docs/spec.md: no test that passed has the id ${id} in its title`;

  it('wants one test that passed for each', () => {
    expect(ask({ 'G1: a': 'passed', [`${C2}: b`]: 'passed', [`${C2}: c`]: 'failed' })).toEqual([]);
    expect(ask({ 'G1: a': 'failed' })).toEqual([missing('G1'), missing(C2)]);
  });

  it('lets a missing tool be, but not in CI', () => {
    const tests = { 'G1: a': 'passed', [`${C2}: b`]: 'skipped' };
    expect(ask(tests)).toEqual([]);
    expect(ask(tests, true)).toEqual([missing(C2)]);
  });
});
