/**
 * Inputs: where a value comes from, what fits, and what it becomes in the plan.
 */
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import type { GivenInputs, JobWorld } from '../../dsl/world.ts';
import { testWorld } from './test-world.ts';

const JOB = `kind: job
version: 1
name: demo
inputs:
  lib: {type: string}
  many: {type: int, default: 3, min: 1, max: 5}
  usd: {type: number, default: 0.5}
  deep: {type: boolean, default: false}
  speed: {type: enum, values: [fast, strong], default: fast}
defaults: {model: '\${{ inputs.speed }}', limits: {usd: '\${{ inputs.usd }}'}}
admission: {concurrency: '\${{ inputs.many }}'}
conversations:
  - id: a
    prompt: "Upgrade \${{ inputs.lib }} \${{ inputs.deep ? 'deeply' : 'quickly' }}."
`;

function compile(given: Partial<GivenInputs> | null, text = JOB) {
  const { inputs: _inputs, ...without } = testWorld;
  const world: JobWorld =
    given === null ? without : { ...testWorld, inputs: { typed: {}, values: {}, ...given } };
  return compileJob({ path: 'job.yaml', text }, world);
}

const codes = (given: Partial<GivenInputs> | null, text?: string) =>
  compile(given, text).diagnostics.map(({ code }) => code);

describe('inputs', () => {
  it('take what was typed, then the file of values, then the default', () => {
    const given = { typed: { lib: 'left-pad', many: '4' }, values: { many: 2, deep: true, speed: 'strong' } };
    const { plan } = compile(given);
    expect(plan?.inputs).toEqual({ deep: true, lib: 'left-pad', many: 4, speed: 'strong', usd: 0.5 });
    expect(plan?.admission.concurrency).toBe(4);
    expect(plan?.items[0]).toMatchObject({
      model: 'strong',
      prompt: 'Upgrade left-pad deeply.',
      limits: { nanoUsd: 500_000_000 },
    });
  });

  it('leave a plan open where nobody was asked, and say which are missing where somebody was', () => {
    expect(compile(null)).toMatchObject({ plan: null, diagnostics: [], openInputs: ['lib'] });
    expect(codes({})).toEqual(['JOB314']);
  });

  it.each([
    ['many', '6'],
    ['many', '0'],
    ['many', '2.5'],
    ['many', 'x'],
    ['usd', 'cheap'],
    ['deep', 'yes'],
    ['speed', 'slow'],
  ])('refuse %s=%s', (name, value) => {
    expect(codes({ typed: { lib: 'x', [name]: value } })).toEqual(['JOB315']);
  });

  it('refuses a value for what is no input', () => {
    expect(compile({ typed: { lib: 'x', mnay: '1' } }).diagnostics).toMatchObject([
      { code: 'JOB316', remedy: 'did you mean "many"?' },
    ]);
  });

  it('are never secrets, and the value is not shown', () => {
    const { diagnostics, plan } = compile({ typed: { lib: 'ghp_abcdefghijklmnop1234' } });
    expect(diagnostics.map(({ code }) => code)).toEqual(['JOB218']);
    expect(JSON.stringify([diagnostics, plan])).not.toContain('ghp_');
  });

  it('are never read again, whatever they hold', () => {
    const { plan } = compile({ typed: { lib: '${{ inputs.many }}' } });
    expect(plan?.items[0]?.prompt).toBe('Upgrade ${{ inputs.many }} quickly.');
  });

  it('are never read again as a whole value either, and are taken as they are where nothing is filled', () => {
    const head = 'kind: job\nversion: 1\nname: demo\ninputs: {lib: {type: string}}\n';
    const fields = `prompt: '\${{ inputs.lib }}', tags: {a: '\${{ inputs.lib }}'}, verify: '\${{ inputs.lib }}'`;
    const more = `extend: [{when: repeat == 1, set: {tags: {b: '\${{ inputs.lib }}'}}}]`;
    const text = `${head}placement: {pool: {size: 1, affinity: '\${{ inputs.lib }}'}}\ndefaults: {model: m, setup: '\${{ inputs.lib }}', tags: {c: '\${{ inputs.lib }}'}}\nconversations: [{id: x, ${fields}, ${more}}]\n`;
    const lib = 'say ${{ repeat }} and $${{';
    const { plan } = compile({ typed: { lib } }, text);
    expect(plan?.items[0]).toMatchObject({
      prompt: lib,
      tags: { a: lib, b: lib, c: lib },
      verify: { command: lib },
      setup: { command: lib },
      affinity: lib,
    });
  });

  it('change the hash of the plan', () => {
    const hashes = ['x', 'y'].map((lib) => compile({ typed: { lib } }).plan?.hash);
    expect(new Set(hashes).size).toBe(2);
  });
});
