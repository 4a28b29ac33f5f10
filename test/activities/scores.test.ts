/** Scores: what of an output is the number, and what reports say of the numbers. */
import { describe, expect, it } from 'vitest';
import type { Score } from '../../core/run/items/item-evidence.ts';
import { renderJsonl } from '../../report/render-jsonl.ts';
import { renderJunit } from '../../report/render-junit.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { reportDocument } from '../../report/report-document.ts';
import { parseScores, scoreOf, scoresText } from '../../activities/score-file.ts';
import { COMPLETE, reportItem } from './report-data.ts';

describe('scoreOf()', () => {
  const plan = { name: 'x', command: './x', timeoutMs: 60_000 };
  const of = (stdout: string, exitCode = 0) => scoreOf(plan, { exitCode, stdout, stderr: '' });

  it.each([
    ['12', 12],
    ['  -0.5  \r\n\n', -0.5],
    ['tests 9\nlines 97.25 %\n81.5%', 81.5],
    ['1e-3', 0.001],
  ])('takes the last line: %j', (stdout, value) => {
    expect(of(stdout)).toMatchObject({ value, problem: null });
  });

  it.each(['', 'NaN', 'Infinity', '0x10', '1,5', '12 ms', '1e999', '9'.repeat(400), '3\nno'])(
    'takes nothing else for a number: %j',
    (stdout) => {
      expect(of(stdout)).toMatchObject({
        value: null,
        problem: expect.stringMatching(/^its last line is no number/),
      });
      expect(of(stdout).problem?.length).toBeLessThan(200);
    },
  );

  it('believes no command that failed or did not end', () => {
    expect(of('5', 2)).toMatchObject({ value: null, problem: 'exit code 2' });
    expect(of('5', -1)).toMatchObject({ value: null, problem: 'no end within 60 s' });
  });

  it('compares with its bounds, which belong to what is good', () => {
    const bounded = { ...plan, atLeast: 1, atMost: 2 };
    const problem = (stdout: string) => scoreOf(bounded, { exitCode: 0, stdout, stderr: '' }).problem;
    expect(['0.99', '1', '2', '2.01'].map(problem)).toEqual([
      '0.99 is less than 1',
      null,
      null,
      '2.01 is more than 2',
    ]);
  });
});

describe('parseScores()', () => {
  it('reads what was written, and nothing that was not', () => {
    const scores: Score[] = [{ name: 'x', value: 1, at_least: 0, problem: null }];
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect(parseScores(bytes(scoresText(scores)))).toEqual(scores);
    expect([parseScores(null), parseScores(bytes('{')), parseScores(bytes('{"format":2}'))]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe('a report of scores', () => {
  const score = (name: string, value: number | null, problem: string | null = null): Score => ({
    name,
    value,
    problem,
  });
  const item = (key: string, scores: readonly Score[]) => ({
    ...reportItem(key, { outcome: 'succeeded' }),
    entry: 'fix',
    model: key.startsWith('a') ? 'm-a' : 'm-b',
    scores,
  });
  const items = [
    item('a/1', [score('speed', 10), score('size', 3)]),
    item('a/2', [score('speed', 5, '5 is less than 8'), score('size', null, 'exit code 1')]),
    item('b/1', [score('speed', 1 / 3)]),
    item('c/1', []),
  ];
  const data = { ...COMPLETE, items };

  it('has an average by entry and model, and each number', () => {
    const text = renderMarkdown(reportDocument(data));
    expect(text).toContain('## Scores');
    expect(text).toMatch(/fix +\| m-a +\| +2 +\| +7\.5 +\| +3/);
    expect(text).toMatch(/fix +\| m-b +\| +1 +\| +0\.333333 +\| +-/);
    expect(text).toMatch(/a\/2 +\| +5 \(not good\) +\| +none \(not good\)/);
  });

  it('has numbers in JSON lines and as properties in JUnit', () => {
    const [first = '', , , last = ''] = renderJsonl(data).split('\n');
    expect(JSON.parse(first)).toMatchObject({ scores: [{ name: 'speed', value: 10 }, { name: 'size' }] });
    expect(JSON.parse(last)).not.toHaveProperty('scores');
    expect(renderJunit(data)).toContain(
      '<properties><property name="speed" value="10"/><property name="size" value="3"/></properties>',
    );
  });

  it('says nothing in a run that measures nothing', () => {
    expect(renderMarkdown(reportDocument(COMPLETE))).not.toContain('Scores');
  });
});
