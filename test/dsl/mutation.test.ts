/**
 * Mutation: tokens of valid files are deleted, renamed, of another type or indented otherwise. Never an exception,
 * and where the result is broken, the first error is within one line of the edit.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { printDiagnostics } from '../../dsl/check/print-diagnostics.ts';
import type { Diagnostic } from '../../dsl/check/diagnostic.ts';
import { cut, cutsWith } from './cuts.ts';
import { goldenText, validJobs } from './golden-files.ts';
import { chosen, mutantsOf, validFiles, type Mutant } from './mutants.ts';
import { testWorld } from './test-world.ts';

/** How many mutants are tried; `PARLEY_FUZZ=20000` is the long form. */
const MUTANTS = Number(process.env['PARLEY_FUZZ'] ?? '1500');
const SEED = 20261122;
/** What is missed is nearly always a name whose uses are elsewhere. */
const NEAR_SHARE_MIN = 0.95;
/** Of the lines of what was missed, which a failure shows. */
const MISSED_SHOWN_MAX = 300;

interface Found {
  readonly mutant: Mutant;
  /** Null for a mutant that is still valid. */
  readonly first: Diagnostic | null;
}

function play(mutant: Mutant): Found {
  const diagnostics = mutant.file.compile(mutant.text);
  printDiagnostics(diagnostics, mutant.text, { format: 'pretty' });
  return { mutant, first: diagnostics.find(({ severity }) => severity === 'error') ?? null };
}

function isNear({ mutant, first }: Found): boolean {
  return first === null || Math.abs(first.line - mutant.line) <= 1;
}

function missedLine({ mutant, first }: Found): string {
  return `${mutant.file.name}:${mutant.line} ${mutant.what} -> ${first?.line} ${first?.code} ${first?.message}`;
}

describe('mutation', () => {
  it('begins with files that are valid', () => {
    const files = validFiles();
    expect(files.length).toBeGreaterThan(25);
    for (const file of files)
      expect(file.compile(file.text).filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('finds the edit, within one line', () => {
    const all = validFiles().flatMap(mutantsOf);
    const played = chosen(all, MUTANTS, SEED).map(play);
    const broken = played.filter(({ first }) => first !== null);
    const missed = broken.filter((found) => !isNear(found));
    const share = 1 - missed.length / broken.length;
    const valid = played.length - broken.length;
    process.stderr.write(
      `mutation: ${played.length} of ${all.length} mutants, none throws; ${valid} stayed valid, ${broken.length} are broken, ${(share * 100).toFixed(2)} % of these told within one line\n`,
    );
    expect(played.length).toBe(Math.min(MUTANTS, all.length));
    expect(broken.length).toBeGreaterThan(played.length / 2);
    const shown = missed.slice(0, MISSED_SHOWN_MAX).map(missedLine).join('\n');
    expect(share, `${share} of ${broken.length}\n${shown}`).toBeGreaterThanOrEqual(NEAR_SHARE_MIN);
    if (process.env['PARLEY_FUZZ_MISSED'] !== undefined) process.stderr.write(`${shown}\n`);
  });

  it('never throws, whatever is deleted, doubled or put in', () => {
    const texts = validJobs().map(goldenText);
    const pieces = ['>', '&a', '*a', '!t', '<<: ', '${{', '}}', '#', '%', '---\n', '\u0007'];
    fc.assert(
      fc.property(fc.constantFrom(...texts), cutsWith(pieces, 30), (base, cuts) => {
        const text = cut(base, cuts);
        const { plan, diagnostics } = compileJob({ path: 'job.yaml', text }, testWorld);
        expect(plan !== null || diagnostics.some((diagnostic) => diagnostic.severity === 'error')).toBe(true);
        for (const format of ['pretty', 'json', 'jsonl', 'github'] as const)
          printDiagnostics(diagnostics, text, { format });
      }),
      { seed: 20261121, numRuns: 400 },
    );
  });

  it('never throws for bytes of any kind', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(compileJob({ path: 'job.yaml', text: bytes }, testWorld).plan).toBeNull();
      }),
      { seed: 20261121, numRuns: 300 },
    );
  });
});
