/** Copies that are judged as one: every count of every rule, and what a run makes of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unsuccessfulOf } from '../../core/machine/projection.ts';
import { initRun } from '../../core/run/init.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import { runRow } from '../../core/run/items/rows.ts';
import type { RunState } from '../../core/run/state.ts';
import { countForgiven, wholeItems, type Copy } from '../../core/run/items/whole-items.ts';
import { runId, userId } from '../../core/ids.ts';
import type { Outcome } from '../../core/status.ts';
import { item, plan } from '../conformance/script-parts.ts';

type Rule = 'any' | 'majority';
const WORDS: Readonly<Record<string, Outcome | null>> = {
  s: 'succeeded',
  f: 'failed',
  c: 'check_failed',
  '.': null,
};
const copies = (rule: Rule, envelopes: string, key = 'a/1'): Copy[] =>
  [...envelopes].map((envelope) => ({ whole: { key, rule }, outcome: WORDS[envelope] ?? null }));

describe('an item as a whole', () => {
  it.each<[Rule, string, string]>([
    ['any', 'ffs', 'succeeded'],
    ['any', 's..', 'succeeded'],
    ['any', 'ff.', 'open'],
    ['any', 'fcf', 'unsuccessful'],
    ['majority', 'ssf', 'succeeded'],
    ['majority', 'ss.', 'succeeded'],
    ['majority', 's.f', 'open'],
    ['majority', 'ff.', 'unsuccessful'],
    ['majority', 'sf', 'unsuccessful'],
    ['majority', 'ssff', 'unsuccessful'],
    ['majority', 's', 'succeeded'],
  ])('by %s of %s is %s', (rule, envelopes, verdict) => {
    expect(wholeItems(copies(rule, envelopes))).toMatchObject([
      { key: 'a/1', copies: envelopes.length, verdict },
    ]);
  });

  it('never forgives more than failed, and nothing where it did not succeed', () => {
    const rule = fc.constantFrom<Rule>('any', 'majority');
    const envelopes = fc.array(fc.constantFrom('s', 'f', 'c', '.'), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(rule, envelopes, (by, given) => {
        const all = copies(by, given.join(''));
        const failed = given.filter((envelope) => envelope === 'f' || envelope === 'c').length;
        const [whole] = wholeItems(all);
        expect(countForgiven(all)).toBe(whole?.verdict === 'succeeded' ? failed : 0);
      }),
    );
  });

  it('is judged apart from others, and from who is judged by itself', () => {
    const all = [...copies('any', 'fs'), { outcome: 'failed' } as const, ...copies('any', 'ff', 'b/1')];
    expect(wholeItems(all).map(({ key, verdict }) => [key, verdict])).toEqual([
      ['a/1', 'succeeded'],
      ['b/1', 'unsuccessful'],
    ]);
    expect(countForgiven(all)).toBe(1);
  });
});

describe('the row of a run', () => {
  const whole = { key: 'item-0', rule: 'any' } as const;
  const given = plan(3, { items: [0, 1, 2].map((at) => item(at, { whole })) });
  const created = initRun(runSpec(given, { runId: runId('r'), userId: userId('u') }), 0);
  const ended = (phase: RunState['phase']): RunState => ({
    ...created,
    phase,
    items: created.items.map((one, at) => {
      const outcome = at === 0 ? 'succeeded' : 'failed';
      return { ...one, phase: 'ended', ending: { outcome, failureClass: null, detail: null } };
    }),
  });

  it('says how many are forgiven once all have ended, and counts them no more', () => {
    const row = runRow(ended('finished'));
    expect(row).toMatchObject({ forgiven: 2, ended: { succeeded: 1, failed: 2 } });
    expect(unsuccessfulOf(row)).toBe(0);
    expect(runRow(ended('running'))).not.toHaveProperty('forgiven');
  });
});
