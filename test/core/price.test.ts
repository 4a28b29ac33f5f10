/** Prices and costs against an oracle that knows only whole numbers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costOf, parsePrice } from '../../core/money/price.ts';

/** `amount` femto-USD written as a decimal in USD. */
function decimal(amount: bigint): string {
  const digits = amount.toString().padStart(16, '0');
  return `${digits.slice(0, -15)}.${digits.slice(-15)}`;
}

const price = fc.bigInt({ min: 0n, max: 10n ** 13n });
const tokens = fc.integer({ min: 0, max: 2_000_000 });

describe('parsePrice()', () => {
  it('reads back what was written, in both notations', () => {
    fc.assert(
      fc.property(price, (amount) => {
        expect(parsePrice(decimal(amount))).toBe(amount);
        expect(parsePrice(`${amount}e-15`)).toBe(amount);
      }),
    );
  });

  it('reads the number a configuration file holds', () => {
    expect(parsePrice(String(0.00000025))).toBe(250_000_000n);
    expect(parsePrice(String(0.0000000005))).toBe(500_000n);
    expect(parsePrice('3e-06')).toBe(3_000_000_000n);
    expect(parsePrice('0')).toBe(0n);
  });

  it.each(['', 'x', '-1', '+1', '1e-16', '0x1', '1,5', 'NaN', 'Infinity', '1e999', '.5'])(
    'refuses %j',
    (text) => {
      expect(parsePrice(text)).toBeNull();
    },
  );
});

describe('costOf()', () => {
  it('is the exact amount, rounded once, half to even', () => {
    fc.assert(
      fc.property(
        price,
        price,
        tokens,
        tokens,
        (inputFemtoUsd, outputFemtoUsd, promptTokens, completionTokens) => {
          const cost = costOf({ inputFemtoUsd, outputFemtoUsd }, { promptTokens, completionTokens });
          const exact = inputFemtoUsd * BigInt(promptTokens) + outputFemtoUsd * BigInt(completionTokens);
          const error = BigInt(cost) * 1_000_000n - exact;
          expect(error >= -500_000n && error <= 500_000n).toBe(true);
          if (error === 500_000n || error === -500_000n) expect(cost % 2).toBe(0);
        },
      ),
    );
  });

  it('rounds a tie to the even neighbour', () => {
    const half = { inputFemtoUsd: 500_000n, outputFemtoUsd: 0n };
    const costs = [1, 2, 3, 4, 5, 7].map((promptTokens) =>
      costOf(half, { promptTokens, completionTokens: 0 }),
    );
    expect(costs).toEqual([0, 1, 2, 2, 2, 4]);
  });
});
