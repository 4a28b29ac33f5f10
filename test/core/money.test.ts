/** Money and prices against an oracle of big integers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addUsd, formatMicro, formatNano, nanoUsd, parseUsd, toMicro } from '../../core/money/money.ts';
import { costOf, parsePrice } from '../../core/money/price.ts';

/** Rounds a fraction half-even, the slow and obvious way: compares twice the distance to the floor. */
function halfEven(numerator: bigint, denominator: bigint): bigint {
  let floor = numerator / denominator;
  if (floor * denominator > numerator) floor -= 1n;
  const twice = 2n * (numerator - floor * denominator);
  if (twice === denominator) return floor % 2n === 0n ? floor : floor + 1n;
  return twice > denominator ? floor + 1n : floor;
}

const DIGITS = fc.stringMatching(/^\d{1,20}$/);

describe('money', () => {
  it('reads any decimal exactly, rounding half-even past nine digits', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.nat({ max: 8_000_000 }), DIGITS, (isNegative, whole, fraction) => {
        const exact = BigInt(`${whole}${fraction}`) * 10n ** 9n;
        const nano = Number(halfEven(exact, 10n ** BigInt(fraction.length)));
        expect(parseUsd(`${isNegative ? '-' : ''}${whole}.${fraction}`)).toBe(
          isNegative && nano !== 0 ? -nano : nano,
        );
      }),
    );
  });

  it('reads exponents as the number they are', () => {
    expect(['1e-9', '2.5E-10', '3.5e-9', '12.5e2', '0e5', '-1.5e-5'].map(parseUsd)).toEqual([
      1, 0, 4, 1_250_000_000_000, 0, -15_000,
    ]);
    expect(['', '.5', '1.', '1,5', 'NaN', '0x1', '1e', '9e99'].map(parseUsd)).toEqual(Array(8).fill(null));
  });

  it('prints nano-USD so that reading gives them back', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (amount) => {
        expect(parseUsd(formatNano(nanoUsd(amount)))).toBe(amount === 0 ? 0 : amount);
      }),
    );
  });

  it('totals in micro-USD half-even, with a remainder that makes up for it', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (amount) => {
        const { microUsd, remainderNanoUsd } = toMicro(nanoUsd(amount));
        expect(BigInt(microUsd)).toBe(halfEven(BigInt(amount), 1_000n));
        expect(BigInt(microUsd) * 1_000n + BigInt(remainderNanoUsd)).toBe(BigInt(amount));
      }),
    );
    expect([500, 1_500, 2_500, -500, -1_500].map((nano) => toMicro(nanoUsd(nano)).microUsd)).toEqual([
      0, 2, 2, 0, -2,
    ]);
    expect([1, -1, 1_234_567].map(formatMicro)).toEqual(['0.000001', '-0.000001', '1.234567']);
  });

  it('refuses what it could not hold exactly', () => {
    expect(() => nanoUsd(0.5)).toThrow(RangeError);
    expect(() => addUsd(nanoUsd(Number.MAX_SAFE_INTEGER), nanoUsd(1))).toThrow(RangeError);
  });
});

describe('price', () => {
  it('is exact to the femto-USD and rounded half-even once', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 12n });
    const tokens = fc.nat({ max: 1_000_000 });
    fc.assert(
      fc.property(
        price,
        price,
        price,
        tokens,
        tokens,
        tokens,
        (inFemto, outFemto, cachedFemto, prompt, completion, cached) => {
          const cost = costOf(
            { inputFemtoUsd: inFemto, outputFemtoUsd: outFemto, cachedInputFemtoUsd: cachedFemto },
            { promptTokens: prompt + cached, completionTokens: completion, cachedTokens: cached },
          );
          const exact =
            inFemto * BigInt(prompt) + outFemto * BigInt(completion) + cachedFemto * BigInt(cached);
          expect(BigInt(cost)).toBe(halfEven(exact, 1_000_000n));
        },
      ),
    );
  });

  it('reads prices as they are written, and none that it would have to round', () => {
    expect(['2.5e-6', '0.00000025', '0', '1e-15', '1e-16', '-1', 'x'].map(parsePrice)).toEqual([
      2_500_000_000n,
      250_000_000n,
      0n,
      1n,
      null,
      null,
      null,
    ]);
  });

  it('refuses counts that are none', () => {
    const price = { inputFemtoUsd: 1n, outputFemtoUsd: 1n };
    expect(() => costOf(price, { promptTokens: -1, completionTokens: 0 })).toThrow(RangeError);
    expect(() => costOf(price, { promptTokens: 1, completionTokens: 0, cachedTokens: 2 })).toThrow(
      RangeError,
    );
  });
});
