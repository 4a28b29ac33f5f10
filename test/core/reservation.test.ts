/** Money is held before a call and settled after it: what may begin, what waits, and what a call charges (D30). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listPriceOf } from '../../core/money/list-prices.ts';
import { costAtMost, costOf } from '../../core/money/price.ts';
import { chargeOf, decideReservation } from '../../core/money/reservation.ts';

const FREE = { limitNanoUsd: 100, spentNanoUsd: 0, heldNanoUsd: 0, inFlight: 0, isTaken: false };

describe('decideReservation()', () => {
  it.each([
    ['fits', FREE, { atMostNanoUsd: 100, isOwnBound: true }, 'go'],
    [
      'fits no more',
      { ...FREE, heldNanoUsd: 1, inFlight: 1 },
      { atMostNanoUsd: 100, isOwnBound: true },
      'wait',
    ],
    ['says itself that it is too large', FREE, { atMostNanoUsd: 101, isOwnBound: true }, 'too_large'],
    ['is too large by its model', FREE, { atMostNanoUsd: 101, isOwnBound: false }, 'go'],
    ['has no bound and is alone', FREE, { atMostNanoUsd: null, isOwnBound: false }, 'go'],
    [
      'has no bound beside another',
      { ...FREE, inFlight: 1 },
      { atMostNanoUsd: null, isOwnBound: false },
      'wait',
    ],
    [
      'fits beside one without a bound',
      { ...FREE, inFlight: 1, isTaken: true, heldNanoUsd: 0 },
      { atMostNanoUsd: 1, isOwnBound: true },
      'wait',
    ],
    [
      'comes when nothing is left',
      { ...FREE, spentNanoUsd: 100 },
      { atMostNanoUsd: 0, isOwnBound: true },
      'used_up',
    ],
  ])('a call that %s', (_, standing, ask, kind) => {
    expect(decideReservation(standing, ask).kind).toBe(kind);
  });

  it('never lets bounded calls exceed the limit, however they come and end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.double({ min: 0, max: 1, noNaN: true })), {
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 200 }),
        (calls, limitNanoUsd) => {
          let [spentNanoUsd, heldNanoUsd] = [0, 0];
          const held: (readonly [number, number])[] = [];
          for (const [atMostNanoUsd, share] of calls) {
            const standing = {
              limitNanoUsd,
              spentNanoUsd,
              heldNanoUsd,
              inFlight: held.length,
              isTaken: false,
            };
            const decision = decideReservation(standing, { atMostNanoUsd, isOwnBound: true });
            if (decision.kind === 'go') {
              heldNanoUsd += decision.heldNanoUsd;
              held.push([decision.heldNanoUsd, Math.floor(decision.heldNanoUsd * share)]);
            } else {
              const [ended] = held.splice(0, 1);
              heldNanoUsd -= ended?.[0] ?? 0;
              spentNanoUsd += ended?.[1] ?? 0;
            }
            expect(spentNanoUsd + heldNanoUsd).toBeLessThanOrEqual(limitNanoUsd);
          }
        },
      ),
      { seed: 30 },
    );
  });
});

describe('chargeOf()', () => {
  const unknown = { heldNanoUsd: 50, costNanoUsd: null, isUnbilled: false, seenNanoUsd: null };
  it.each([
    ['what it cost', { ...unknown, costNanoUsd: 70 }, 70],
    ['nothing where it was refused', { ...unknown, isUnbilled: true }, 0],
    ['what was seen of it', { ...unknown, seenNanoUsd: 20 }, 20],
    ['no more than was held', { ...unknown, seenNanoUsd: 90 }, 50],
    ['what was held where nobody knows more', unknown, 50],
  ])('is %s', (_, end, charged) => {
    expect(chargeOf(end)).toBe(charged);
  });
});

describe('prices of every kind of token', () => {
  const price = {
    inputFemtoUsd: 10_000_000n,
    outputFemtoUsd: 20_000_000n,
    cachedInputFemtoUsd: 1_000_000n,
    cacheWriteFemtoUsd: 12_000_000n,
    reasoningFemtoUsd: 30_000_000n,
  };

  it('adds each at its own', () => {
    const tokens = {
      promptTokens: 10,
      cachedTokens: 4,
      cacheWriteTokens: 3,
      completionTokens: 5,
      reasoningTokens: 2,
    };
    expect(costOf(price, tokens)).toBe(3 * 10 + 4 * 1 + 3 * 12 + 3 * 20 + 2 * 30);
  });

  it('bounds a call by the dearest', () => {
    expect(costAtMost(price, { promptTokens: 10, completionTokens: 5 })).toBe(10 * 12 + 5 * 30);
    expect(costAtMost(price, { promptTokens: Number.MAX_SAFE_INTEGER, completionTokens: 0 })).toBeNull();
  });

  it('are listed by the name of the model, whoever provides it and whichever snapshot it is', () => {
    const listed = listPriceOf('gpt-4o');
    expect(listed?.price.cachedInputFemtoUsd).toBe(1_250_000_000n);
    for (const name of ['openai/gpt-4o', 'prov/openai/GPT-4o-2024-08-06'])
      expect(listPriceOf(name)).toEqual(listed);
    for (const name of ['prov/up', 'gpt-4o:free', 'constructor', '']) expect(listPriceOf(name)).toBeNull();
  });
});
