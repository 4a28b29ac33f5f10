/**
 * What plans are hashed over: the short way gives the text of canonical JSON, and a plan with anything more or
 * anything else in it never has the hash of the plan that was compiled.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { PlanItem } from '../../core/plan/plan.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { hashPlan, itemText, planPieces } from '../../dsl/plan/plan-text.ts';
import { goldenText, validJobs } from './golden-files.ts';
import { sha256, testWorld } from './test-world.ts';

const words = fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ maxLength: 8 }), { maxKeys: 4 });

const items: fc.Arbitrary<PlanItem> = fc.record(
  {
    key: fc.string(),
    entry: fc.string(),
    matrix: words,
    prompt: fc.string(),
    repository: fc.option(
      fc.record({
        name: fc.string(),
        branch: fc.option(fc.string()),
        host: fc.constant(null),
        tokenSecret: fc.constant(null),
      }),
    ),
    model: fc.string(),
    tags: words,
    secrets: words,
    verify: fc.option(fc.record({ command: fc.string(), timeoutMs: fc.nat() })),
    limits: fc.record({
      workingMs: fc.option(fc.nat()),
      turns: fc.option(fc.nat()),
      nanoUsd: fc.option(fc.nat()),
    }),
    priority: fc.integer({ min: -1000, max: 1000 }),
    index: fc.nat(),
    specHash: fc.string(),
    repeat: fc.nat(),
    confirmation: fc.constantFrom('never' as const, 'risky' as const, 'always' as const),
    plugins: fc.array(fc.record({ source: fc.string(), ref: fc.constant(null), path: fc.constant(null) })),
    needs: fc.array(
      fc.record({ entry: fc.string(), outcome: fc.constant('ended' as const), each: fc.boolean() }),
    ),
  },
  {
    requiredKeys: [
      'key',
      'entry',
      'matrix',
      'prompt',
      'repository',
      'model',
      'tags',
      'secrets',
      'verify',
      'limits',
      'priority',
      'index',
      'specHash',
    ],
  },
);

function planOf(text: string) {
  const { plan } = compileJob({ path: 'job.yaml', text }, testWorld);
  if (plan === null) throw new Error('Cannot test: the job is broken');
  return plan;
}

describe('the text of a plan', () => {
  it('has every item as canonical JSON, asked twice', () => {
    fc.assert(
      fc.property(items, (item) => {
        expect(itemText(item)).toBe(canonicalJson(item));
        expect(itemText(item)).toBe(canonicalJson(item));
      }),
      { seed: 20261122, numRuns: 300 },
    );
  });

  it.each(validJobs())('is canonical JSON in pieces for %s', (file) => {
    const { hash, ...rest } = planOf(goldenText(file));
    expect([...planPieces(rest)].join('')).toBe(canonicalJson(rest));
    expect(hash).toBe(sha256(canonicalJson(rest)));
  });

  it('is cut into pieces where there are many items, and the hash is the same', () => {
    const { hash: _hash, ...plan } = planOf(goldenText('ok/minimal.yaml'));
    const many = {
      ...plan,
      items: Array.from({ length: 2_000 }, (_, index) => ({ ...plan.items[0], index })),
    };
    const whole = many as typeof plan;
    expect([...planPieces(whole)].length).toBeGreaterThan(3);
    const sha256Of = (pieces: Iterable<string>): string => sha256([...pieces].join(''));
    expect(hashPlan(whole, { sha256, sha256Of })).toBe(sha256(canonicalJson(whole)));
    expect(hashPlan(whole, { sha256 })).toBe(sha256(canonicalJson(whole)));
  });

  it('covers what no plan holds: a foreign field of an item, and an item that is none', () => {
    const { hash, ...plan } = planOf(goldenText('ok/minimal.yaml'));
    const [first] = plan.items;
    for (const strange of [{ ...first, extra: 1 }, null, [], 'x']) {
      const forged = { ...plan, items: [strange] } as unknown as typeof plan;
      expect(hashPlan(forged, { sha256 })).not.toBe(hash);
      expect(hashPlan(forged, { sha256 })).toBe(sha256(canonicalJson(forged)));
    }
  });
});
