/** Planted bugs in hosts: each of them is found by a checker within a hundred cases, and by one that is expected to. */
import { describe, expect, it } from 'vitest';
import { hunt } from '../../scripts/mutants.js';
import { OF_HOSTS } from './of-hosts.ts';

const SEEDS = 100;
const BUGS_MIN = 10;

describe('planted bugs in hosts', () => {
  it('are many', () => {
    expect(OF_HOSTS.length).toBeGreaterThanOrEqual(BUGS_MIN);
  });

  it.each(OF_HOSTS)(
    '$name is found',
    async (mutant) => {
      const { seed, finding } = await hunt(mutant, { from: 1, seeds: SEEDS });
      expect(seed).toBeLessThanOrEqual(SEEDS);
      expect(mutant.caughtBy).toContain(finding?.name);
    },
    600_000,
  );
});
