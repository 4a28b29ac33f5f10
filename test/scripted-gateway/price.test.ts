// Money is exact: against an oracle in fractions, there and back through text, in sums.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { divideHalfEven, formatUsd, parseUsd } from '../../scripted-gateway/decimal-usd.ts';
import { price } from '../../scripted-gateway/call-routes.ts';

describe('price()', () => {
  it.each([
    [1_000_000, 0, '2.50', '10', '2.5'],
    [1, 1, '0.15', '0.60', '0.00000075'],
    [3, 0, '0.0005', '0', '0.000000002'],
    [1, 0, '0.0005', '0', '0'],
    [0, 0, '2.50', '10', '0'],
  ])('of %i + %i tokens at %s and %s is %s', (promptTokens, completionTokens, input, output, expected) => {
    const nanoUsd = price(
      { promptTokens, completionTokens },
      { inputNanoUsdPerMillion: parseUsd(input) ?? 0n, outputNanoUsdPerMillion: parseUsd(output) ?? 0n },
    );
    expect(formatUsd(nanoUsd)).toBe(expected);
  });

  it('never rounds a price of up to three digits after the point', () => {
    const milliUsd = fc.integer({ min: 0, max: 1_000_000 });
    const count = fc.integer({ min: 0, max: 1_000_000_000 });
    fc.assert(
      fc.property(milliUsd, milliUsd, count, count, (input, output, promptTokens, completionTokens) => {
        const written = (milli: number): bigint =>
          parseUsd(`${Math.floor(milli / 1000)}.${String(milli % 1000).padStart(3, '0')}`) ?? -1n;
        const nanoUsd = price(
          { promptTokens, completionTokens },
          { inputNanoUsdPerMillion: written(input), outputNanoUsdPerMillion: written(output) },
        );
        expect(nanoUsd).toBe(
          BigInt(promptTokens) * BigInt(input) + BigInt(completionTokens) * BigInt(output),
        );
      }),
    );
  });
});

describe('decimal USD', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 18n - 1n });

  it('comes back from text unchanged', () => {
    fc.assert(fc.property(amount, (nanoUsd) => parseUsd(formatUsd(nanoUsd)) === nanoUsd));
  });

  it('is written without needless digits', () => {
    fc.assert(fc.property(amount, (nanoUsd) => /^(0|[1-9]\d*)(\.\d*[1-9])?$/.test(formatUsd(nanoUsd))));
  });

  it.each(['', '-1', '+1', '1.', '.5', '1e3', '0x1', '1_0', '0.0000000001', ' 1'])('refuses "%s"', (text) => {
    expect(parseUsd(text)).toBeNull();
  });

  it('divides to the nearest, and to the even one in the middle', () => {
    fc.assert(
      fc.property(amount, fc.bigInt({ min: 1n, max: 10n ** 7n }), (dividend, divisor) => {
        const result = divideHalfEven(dividend, divisor);
        const twiceOff = (dividend - result * divisor) * 2n;
        const isMiddle = twiceOff === divisor || twiceOff === -divisor;
        expect(isMiddle ? result % 2n === 0n : -divisor < twiceOff && twiceOff < divisor).toBe(true);
      }),
    );
  });
});
