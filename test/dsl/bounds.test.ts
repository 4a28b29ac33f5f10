/**
 * Bounds are kept before work is done: no file makes the compiler run out of stack, of memory, or of a text's length.
 */
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { PLAN_CHARS_MAX } from '../../dsl/plan/expand-items.ts';
import { formatDocument } from '../../dsl/read/format-document.ts';
import { JOB_LANGUAGE } from '../../dsl/job-language.ts';
import { jobText, testWorld } from './test-world.ts';

function found(text: string, rows: readonly string[] = []): string[] {
  const world = { ...testWorld, readRows: () => ({ chunks: rows }) };
  const { diagnostics } = compileJob({ path: 'job.yaml', text }, world);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return errors.map(({ code, line, message }) => `${code}:${line} ${message}`);
}

const TOO_DEEP = 'this nests more than 64 levels deep';

describe('depth', () => {
  it.each([
    ['brackets', '['.repeat(200_000)],
    ['brackets that close', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['braces', '{a: '.repeat(200_000)],
    ['dashes', `\n${'- '.repeat(200_000)}`],
    ['question marks', `\n${'? '.repeat(100_000)}`],
    ['anchors', '[&a '.repeat(100_000)],
    ['keys', `\n${Array.from({ length: 2_000 }, (_, at) => `${' '.repeat(at + 1)}a:\n`).join('')}`],
  ])('is counted while %s are read, and one line is told', (_, value) => {
    const text = jobText(`labels: ${value}`);
    const findings = found(text);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(new RegExp(`^JOB119:\\d+ ${TOO_DEEP}$`));
    expect(formatDocument({ path: 'job.yaml', text }, JOB_LANGUAGE).kind).toBe('broken');
  });

  it('is counted through aliases, each of which is shallow', () => {
    const chain = Array.from({ length: 5_000 }, (_, at) => `    k${at + 1}: &a${at + 1} [*a${at}]\n`).join(
      '',
    );
    const text = jobText(`labels:\n    k0: &a0 [x]\n${chain}`);
    const findings = found(text);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(new RegExp(`^JOB119:\\d+ ${TOO_DEEP}$`));
  });

  it('may be what a file has', () => {
    const levels = 62;
    const value = `${'['.repeat(levels)}x${']'.repeat(levels)}`;
    expect(found(jobText(`labels: ${value}`)).join()).not.toContain(TOO_DEEP);
  });
});

describe('aliases', () => {
  const shared = (length: number, uses: number): string =>
    jobText(
      `labels:\n  long: &long "${'x'.repeat(length)}"\nx:\n${Array.from({ length: uses }, (_, at) => `  k${at}: *long\n`).join('')}`,
    );

  it('count by the characters that they add, not by their number', () => {
    expect(found(shared(1_000_000, 80))).toEqual([
      'JOB116:78 aliases grow this file beyond 67108864 characters',
    ]);
    expect(found(shared(1_000, 150)).join()).not.toContain('JOB116');
  });

  it('count keys and what other aliases add, too', () => {
    const key = 'k'.repeat(10_000);
    const levels = ['b', 'c', 'd', 'e'].map((name, at) => {
      const before = 'abcd'[at] ?? '';
      return `  ${name}: &${name} [${Array.from({ length: 12 }, () => `*${before}`).join(', ')}]\n`;
    });
    expect(found(jobText(`labels:\n  a: &a {${key}: 1}\n${levels.join('')}`))[0]).toMatch(
      /^JOB116:\d+ aliases grow this file beyond 67108864 characters$/,
    );
  });
});

describe('a plan', () => {
  const job = (prompt: string, more = ''): string => `kind: job
version: 1
name: demo
conversations:
  - id: a
    key: \${{ item.k }}
    model: fast
    items: {csv: rows.csv}
    prompt: ${prompt}
${more}`;

  it('that no store can hold is refused, and nothing more of it is made', () => {
    let read = 0;
    function* rows(): Generator<string> {
      yield 'k,text\n';
      for (; ; read += 1) yield `r${read},${'x'.repeat(1_000_000)}\n`;
    }
    const world = { ...testWorld, readRows: () => ({ chunks: { [Symbol.iterator]: rows } }) };
    const { plan, diagnostics } = compileJob({ path: 'job.yaml', text: job('${{ item.text }}') }, world);
    expect(plan).toBeNull();
    expect(diagnostics).toMatchObject([
      {
        code: 'JOB323',
        line: 5,
        message: `with this conversation the plan has more than ${PLAN_CHARS_MAX} characters`,
      },
    ]);
    expect(read).toBeLessThan(300);
  });

  it('holds no text that is filled without end', () => {
    const rows = ['k,text\n', `r,${'x'.repeat(1_000_000)}\n`];
    const twelve = Array.from({ length: 12 }, () => '${{ item.text }}').join(' ');
    expect(found(job(twelve), rows)).toEqual([
      'JOB411:9 an expression here fails (row 1 of rows.csv): the text grows beyond 10485760 characters',
    ]);
    const vars = '{file: prompts/repeated.md, vars: {text: "${{ item.text }}"}}';
    const readFile = () => ({ text: '{{ text }} '.repeat(60_000) });
    const world = { ...testWorld, readFile, readRows: () => ({ chunks: rows }) };
    const { diagnostics } = compileJob({ path: 'job.yaml', text: job(vars) }, world);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'an expression here fails (row 1 of rows.csv): the text grows beyond 10485760 characters',
    ]);
  });
});
