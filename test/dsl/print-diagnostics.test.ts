/**
 * Formats other than pretty, and what pretty must never do.
 */
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import type { Diagnostic } from '../../dsl/check/diagnostic.ts';
import { printDiagnostics } from '../../dsl/check/print-diagnostics.ts';
import { jobText, testWorld } from './test-world.ts';

function diagnose(text: string): readonly Diagnostic[] {
  return compileJob({ path: 'jobs/a,b.yaml', text }, testWorld).diagnostics;
}

describe('printDiagnostics', () => {
  const text = jobText('concurency: 4\nwait: {deadline: 12h}\n');

  it('writes GitHub annotations with everything escaped', () => {
    expect(printDiagnostics(diagnose(jobText('"50%\\n": 4\n')), '', { format: 'github' })).toMatch(
      /^::error file=jobs\/a%2Cb\.yaml,line=8,endLine=8,col=1,endColumn=\d+,title=JOB201::unknown key "50%25\\n" at the top level: /,
    );
  });

  it('writes JSON and JSON Lines that hold the same', () => {
    const diagnostics = diagnose(text);
    const lines = printDiagnostics(diagnostics, text, { format: 'jsonl' }).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(diagnostics);
    expect(JSON.parse(printDiagnostics(diagnostics, text, { format: 'json' }))).toEqual(diagnostics);
  });

  it('writes SARIF with one rule for each code and one result for each finding', () => {
    const diagnostics = diagnose(text);
    const log = JSON.parse(printDiagnostics(diagnostics, text, { format: 'sarif' })) as {
      version: string;
      runs: [
        {
          tool: { driver: { rules: { id: string }[] } };
          results: { ruleId: string; ruleIndex: number; level: string; locations: object[] }[];
        },
      ];
    };
    const [{ tool, results }] = log.runs;
    expect(log.version).toBe('2.1.0');
    expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual(
      diagnostics.map(({ code, severity }) => [code, severity]),
    );
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
    const { line: startLine, column: startColumn, endLine, endColumn } = diagnostics[0] ?? {};
    expect(results[0]?.locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: 'jobs/a%2Cb.yaml' },
          region: { startLine, startColumn, endLine, endColumn },
        },
      },
    ]);
  });

  it('says nothing about nothing', () => {
    const formats = ['pretty', 'jsonl', 'github'] as const;
    expect(formats.map((format) => printDiagnostics([], '', { format }))).toEqual(['', '', '']);
    expect(printDiagnostics([], '', { format: 'json' })).toBe('[]\n');
  });

  it('puts the caret under wide characters, tabs and the end of cut lines', () => {
    const wide = jobText(`    tags: {a: "日本🎉", b-c: ${'x'.repeat(300)}}\n`);
    const lines = printDiagnostics(diagnose(wide), wide, { format: 'pretty' }).split('\n');
    const columns = '    8 |     tags: {a: "'.length + 3 * 2 + '", '.length;
    expect(lines[2]?.indexOf('^')).toBe(columns);
    expect(lines[1]?.endsWith('…')).toBe(true);
  });

  it('never shows the value of a secret, in no format and on no line', () => {
    const value = 'hunter2-hunter2-hunter2';
    const token = 'ghp_0123456789abcdefghijABCDEFGHIJ';
    const files = [
      `secrets: {a: ${value}, b: {from: env, nam: X, token: ${value}}}\n`,
      `secrets: {a: {from: env, name: A}}\n${token}: 1\n`,
      `secrets:\n  a: "${token}\n`,
      `labels: {a: ${token}, 'b c': "${token}"}\n`,
      `reconcile: {rows: ${token}}\n`,
    ];
    for (const more of files) {
      const file = jobText(`    secrets: {A: a}\n${more}`);
      for (const format of ['pretty', 'json', 'jsonl', 'sarif', 'github'] as const) {
        const shown = printDiagnostics(diagnose(file), file, { format });
        expect(shown).not.toContain(value);
        expect(shown).not.toContain(token);
        expect(shown).not.toBe('');
      }
    }
  });
});
