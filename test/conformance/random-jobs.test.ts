/** A thousand random jobs, as text through the compiler: the embedded engine takes every entity through the simulator's steps. */
import { describe, expect, it } from 'vitest';
import { seedsOf } from '../helpers/seeds.ts';
import { expectEqual } from './expect-equal.ts';
import { randomJob } from './random-job.ts';

const { seed: FIRST, count: JOBS } = seedsOf('random-jobs');
const PER_TEST = 50;

describe('random jobs on simulator and embedded engine', () => {
  it.each(Array.from({ length: JOBS / PER_TEST }, (_, group) => group))(
    'group %i',
    async (group) => {
      let steps = 0;
      for (let at = group * PER_TEST; at < (group + 1) * PER_TEST; at += 1)
        steps += await expectEqual(randomJob(FIRST + at));
      expect(steps).toBeGreaterThan(PER_TEST * 20);
    },
    600_000,
  );
});
