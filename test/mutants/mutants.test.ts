/** Planted bugs: every patch fits today's source, the detectors are clean without one, and find a few of them in time. */
import { describe, expect, it } from 'vitest';
import { hunt, patched, sourceOf } from '../../scripts/mutants.js';
import { seedsOf } from '../helpers/seeds.ts';
import { DETECTORS } from './detectors.ts';
import { MUTANTS } from './mutants.ts';

/** Every bug has to be found within so many. */
const { seed: FIRST, count: SEEDS } = seedsOf('mutants');
/** As many as the campaign promises. */
const BUGS_MIN = 36;
const CLEAN_SEEDS = 5;
/** One of each kind: a limit, a deletion, a message, money, a driver. */
const REPRESENTATIVE = [
  'cap-off-by-one',
  'archive-skipped',
  'usable-while-pausing',
  'cost-of-a-retried-attempt-lost',
  'engine-keeps-the-first-deadline',
];

describe('planted bugs', () => {
  it('are many, and have names of their own', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(BUGS_MIN);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });

  it.each(MUTANTS)('$name fits the source of today, once', (mutant) => {
    const text = sourceOf(mutant);
    expect(text.split(mutant.find).length - 1).toBe(1);
    expect(patched(mutant, text)).not.toBe(text);
  });

  it('are refused when their text stands twice, or not at all', () => {
    const mutant = { name: 'twice', file: 'a.ts', find: 'x', replace: 'y' };
    expect(() => patched(mutant, 'x x')).toThrow('Cannot plant "twice": its text stands 2 times in a.ts');
    expect(() => patched(mutant, 'a')).toThrow('0 times');
  });
});

describe('detectors', () => {
  it.each(['campaign', 'hosts', 'conformance'] as const)(
    '%s finds nothing where nothing is planted',
    async (name) => {
      for (let seed = FIRST; seed < FIRST + CLEAN_SEEDS; seed += 1)
        expect({ seed, finding: await DETECTORS[name](seed) }).toEqual({ seed, finding: null });
    },
  );

  it.each(REPRESENTATIVE)(
    'find "%s"',
    async (name) => {
      const mutant = MUTANTS.find((one) => one.name === name);
      if (mutant === undefined) throw new Error(`Cannot hunt "${name}": it is not planted`);
      const { seed, finding } = await hunt(mutant, { from: FIRST, seeds: SEEDS });
      expect(seed).toBeLessThan(FIRST + SEEDS);
      expect(finding?.problem).toEqual(expect.any(String));
    },
    600_000,
  );
});
