/**
 * Whatever is done to a scenario file, compiling it never throws, and what is broken has an error.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cut, cutsWith } from './cuts.ts';
import { compileText, printed, scenarioText } from './scenario-world.ts';

const valid = [scenarioText('ok', 'full.yaml'), scenarioText('ok', 'minimal.yaml')];
const PIECES = ['(', ')', '&&', '!', '==', '.', 'c', '0'];

describe('mutation of scenarios', () => {
  it('never throws, whatever is deleted or put in', () => {
    fc.assert(
      fc.property(fc.constantFrom(...valid), cutsWith(PIECES, 20), (base, cuts) => {
        const text = cut(base, cuts);
        const compilation = compileText(text);
        const broken = compilation.diagnostics.some(({ severity }) => severity === 'error');
        expect(compilation.scenario === null).toBe(broken);
        printed(compilation, 'scenario.yaml', text);
      }),
      { seed: 20261121, numRuns: 150 },
    );
  });
});
