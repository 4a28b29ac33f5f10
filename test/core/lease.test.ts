/** decideLease(): how one limit is divided among processes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideLease, type LeaseFacts, type LeaseAsk } from '../../core/money/lease.ts';

const STANDING: LeaseFacts = { limit: 100, spent: 20, others: 30 };
const ASK: LeaseAsk = { held: 10, inFlight: 1, least: 5, isOwnBound: false, surplus: 8, isBehind: false };

describe('decideLease()', () => {
  it.each([
    ['gives what is asked for and some more', {}, {}, [23, true]],
    ['gives no more than there is', {}, { surplus: 1_000 }, [50, true]],
    ['keeps what calls in flight hold and gives the rest back', {}, { least: 0, surplus: 0 }, [10, true]],
    ['lets a share stay that nobody else wants', {}, { least: 0, surplus: 6 }, [16, true]],
    ['takes back all that is not held when somebody waits', {}, { least: 0, isBehind: true }, [10, true]],
    ['lets whoever came later wait', {}, { isBehind: true }, [10, false]],
    ['lets a call wait that does not fit', {}, { least: 41 }, [10, false]],
    ['lets a call without a bound wait while others have a share', {}, { least: null }, [10, false]],
    ['or while its own process has calls in flight', { others: 0 }, { least: null }, [10, false]],
    [
      'gives all that is left to a call that is alone',
      { others: 0 },
      { least: null, held: 0, inFlight: 0 },
      [80, true],
    ],
    [
      'also to one that is bounded by its entry',
      { others: 0 },
      { least: 90, held: 0, inFlight: 0 },
      [80, true],
    ],
    [
      'nothing to one that asks for too much',
      { others: 0 },
      { least: 90, isOwnBound: true, held: 0, inFlight: 0 },
      [0, true],
    ],
    ['says at once that nothing is left', { spent: 100 }, { least: null, isBehind: true }, [10, true]],
  ] as const)('%s', (_name, standing, ask, expected) => {
    const { granted, isAnswered } = decideLease({ ...STANDING, ...standing }, { ...ASK, ...ask });
    expect([granted, isAnswered]).toEqual(expected);
  });

  it('never gives out more than the limit beyond what is held', () => {
    const amount = fc.nat(1_000);
    const ask = fc.record({
      ...{ held: amount, inFlight: fc.nat(3), least: fc.option(amount), surplus: amount },
      ...{ isOwnBound: fc.boolean(), isBehind: fc.boolean() },
    });
    fc.assert(
      fc.property(fc.record({ limit: amount, spent: amount, others: amount }), ask, (standing, asked) => {
        const { granted } = decideLease(standing, asked);
        const left = Math.max(0, standing.limit - standing.spent - standing.others);
        expect(granted).toBeGreaterThanOrEqual(0);
        expect(granted).toBeLessThanOrEqual(Math.max(asked.held, left));
      }),
    );
  });
});
