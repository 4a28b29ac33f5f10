/** One more event in every phase, of every kind that may reach it: both drivers take the same steps. */
import { describe, expect, it } from 'vitest';
import { expectSameSteps } from './expect-equal.ts';
import { MORE_SCRIPTS, probedScripts } from './probed-scripts.ts';

const PER_TEST = 60;

describe('events in odd moments on simulator and embedded engine', () => {
  const scripts = [...MORE_SCRIPTS, ...probedScripts()];
  const groups = Array.from({ length: Math.ceil(scripts.length / PER_TEST) }, (_, group) => group);

  it.each(groups)(
    'group %i',
    async (group) => {
      let steps = 0;
      for (const script of scripts.slice(group * PER_TEST, (group + 1) * PER_TEST))
        steps += await expectSameSteps(script);
      expect(steps).toBeGreaterThan(PER_TEST);
    },
    600_000,
  );
});
