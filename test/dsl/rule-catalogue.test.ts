/**
 * Every rule is documented and reached, and nothing else is documented.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { RULE_CATALOGUE } from '../../dsl/check/rule-catalogue.ts';
import { goldenFindings, renderDiagnosticsPage } from './diagnostics-page.ts';

/** Rules that a golden file cannot reach; the named test does. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  JOB104: 'compile-job.test.ts: refuses 50 MB in milliseconds',
  JOB316: 'inputs.test.ts: refuses a value for what is no input',
  JOB323: 'bounds.test.ts: that no store can hold is refused',
  JOB313: 'compile-job.test.ts: asks whether secrets exist',
};

const codes = Object.keys(RULE_CATALOGUE);
const PAGE = path.join(import.meta.dirname, '../../docs/diagnostics.md');
if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, renderDiagnosticsPage());

const docs = readFileSync(PAGE, 'utf8');
const outputs = goldenFindings().join('\n');

describe('the rule catalogue', () => {
  it.each(codes)('%s has a section in docs/diagnostics.md', (code) => {
    expect(docs).toContain(`### ${code} `);
  });

  it('is shown with the messages of today', () => {
    expect(docs).toBe(renderDiagnosticsPage());
  });

  it('is all that docs/diagnostics.md documents', () => {
    const documented = [...docs.matchAll(/^### ((?:JOB|SCN)\d+) /gm)].map((match) => match[1]);
    expect(documented).toEqual([...documented].sort());
    expect(documented).toEqual(codes);
  });

  it.each(codes)('%s is reached', (code) => {
    const named = ELSEWHERE[code];
    if (named === undefined) expect(outputs).toContain(` ${code}: `);
    else
      expect(readFileSync(path.join(import.meta.dirname, named.split(':')[0] ?? ''), 'utf8')).toContain(code);
  });

  it('has titles and explanations in sentences', () => {
    for (const rule of Object.values(RULE_CATALOGUE)) {
      expect(rule.title).toMatch(/^[^.]+$/);
      expect(rule.explanation).toMatch(/\.$/);
    }
  });
});
