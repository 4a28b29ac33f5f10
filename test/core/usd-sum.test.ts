/** Sums beyond what a number holds exactly, against integers without a bound. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatNano, formatUsd, toMicro } from '../../core/money/money.ts';
import { addSums, compareSums, ExactSum, writtenSum } from '../../core/money/usd-sum.ts';

const amounts = fc.array(fc.oneof(fc.maxSafeInteger(), fc.integer()), { maxLength: 30 });

it('are exact whatever is added in whatever order, and written as digits where a number would round', () => {
  fc.assert(
    fc.property(amounts, (given) => {
      const sum = new ExactSum();
      for (const amount of given) sum.add(amount);
      const exact = given.reduce((total, amount) => total + BigInt(amount), 0n);
      expect(sum.exact()).toBe(exact);
      const written = sum.written();
      expect(BigInt(written)).toBe(exact);
      expect(typeof written === 'number').toBe(Number.isSafeInteger(Number(exact)));
      expect(addSums(...given)).toBe(written);
      const { microUsd, remainderNanoUsd } = toMicro(written);
      expect(BigInt(microUsd) * 1_000n + BigInt(remainderNanoUsd)).toBe(exact);
      expect(compareSums(written, writtenSum(exact + 1n))).toBeLessThan(0);
    }),
    { seed: 26 },
  );
});

it('are printed with every digit', () => {
  expect(formatNano('27021597764222973')).toBe('27021597.764222973');
  expect(formatNano('-27021597764222973')).toBe('-27021597.764222973');
  expect(formatUsd('27021597764222973')).toBe('$27021597.764223');
});
