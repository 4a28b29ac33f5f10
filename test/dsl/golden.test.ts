/**
 * Golden files: valid jobs with their exact plan, broken jobs with their exact output.
 * `UPDATE_GOLDEN=1 npx vitest run test/dsl` writes them anew; they are never edited by hand.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { printDiagnostics } from '../../dsl/check/print-diagnostics.ts';
import { GOLDEN_FOLDER, testWorld } from './test-world.ts';

const updating = process.env['UPDATE_GOLDEN'] === '1';

function jobsIn(folder: string): { name: string; bytes: Uint8Array; out: (ending: string) => string }[] {
  const directory = path.join(GOLDEN_FOLDER, folder);
  return readdirSync(directory)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => {
      const name = file.replace(/\.yaml$/, '');
      return {
        name,
        bytes: readFileSync(path.join(directory, file)),
        out: (ending) => path.join(directory, name + ending),
      };
    });
}

function expectGolden(file: string, actual: string): void {
  if (updating) writeFileSync(file, actual);
  expect(actual).toBe(readFileSync(file, 'utf8'));
}

describe('valid jobs', () => {
  it.each(jobsIn('ok'))('$name compiles to its plan', ({ name, bytes, out }) => {
    const { plan, diagnostics } = compileJob({ path: `${name}.yaml`, text: bytes }, testWorld);
    expect(diagnostics.filter((diagnostic) => diagnostic.severity === 'error')).toEqual([]);
    expectGolden(out('.plan.json'), `${JSON.stringify(plan, null, 2)}\n`);
  });
});

describe('broken jobs', () => {
  const jobs = jobsIn('err');

  it('has at least 150 of them', () => {
    expect(jobs.length).toBeGreaterThanOrEqual(150);
  });

  it.each(jobs)('$name says exactly what is wrong', ({ name, bytes, out }) => {
    const { diagnostics, texts } = compileJob({ path: `${name}.yaml`, text: bytes }, testWorld);
    expect(diagnostics.length).toBeGreaterThan(0);
    const shown = texts.size > 1 ? texts : new TextDecoder().decode(bytes);
    expectGolden(out('.out'), printDiagnostics(diagnostics, shown, { format: 'pretty' }));
  });
});
