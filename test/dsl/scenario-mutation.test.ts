/**
 * Whatever is done to a scenario file, compiling it never throws, and what is broken has an error.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compileText, printed, scenarioText } from './scenario-world.ts';

const valid = [scenarioText('ok', 'full.yaml'), scenarioText('ok', 'minimal.yaml')];
const PIECES = [
  '\t',
  '\n',
  ' ',
  '- ',
  ': ',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '|',
  '(',
  ')',
  '&&',
  '!',
  '==',
  '.',
  'c',
  '0',
];

describe('mutation of scenarios', () => {
  it('never throws, whatever is deleted or put in', () => {
    const piece = fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 }));
    const cut = fc.record({ at: fc.nat(), length: fc.nat(20), piece });
    fc.assert(
      fc.property(fc.constantFrom(...valid), fc.array(cut, { minLength: 1, maxLength: 3 }), (base, cuts) => {
        const text = cuts.reduce((current, { at, length, piece: put }) => {
          const start = at % (current.length + 1);
          return current.slice(0, start) + put + current.slice(start + length);
        }, base);
        const compilation = compileText(text);
        const broken = compilation.diagnostics.some(({ severity }) => severity === 'error');
        expect(compilation.scenario === null).toBe(broken);
        printed(compilation, 'scenario.yaml', text);
      }),
      { seed: 20261121, numRuns: 150 },
    );
  });
});
