/**
 * Splits one amount by weights so that the parts sum to it exactly.
 * Owns the method of the largest remainder; must not know what is split.
 */
import { nanoUsd, type NanoUsd } from '../money/money.ts';

/**
 * Parts in the order of the weights; equal parts when every weight is 0. Left-over nano-USD go to the largest
 * remainders, ties to the earlier weight. Weights are integers of 0 or more.
 * @throws RangeError when there is nobody to give an amount to.
 */
export function splitExactly(amount: NanoUsd, weights: readonly number[]): readonly NanoUsd[] {
  if (weights.length === 0) throw new RangeError('Cannot split the amount: there is nobody to give it to');
  const sum = weights.reduce((total, weight) => total + BigInt(weight), 0n);
  const shares = sum === 0n ? weights.map(() => 1n) : weights.map(BigInt);
  const whole = sum === 0n ? BigInt(weights.length) : sum;
  const magnitude = BigInt(Math.abs(amount));
  const exact = shares.map((share, index) => {
    const product = magnitude * share;
    return { index, floor: product / whole, remainder: product % whole };
  });
  const given = exact.reduce((total, { floor }) => total + floor, 0n);
  const order = [...exact].sort((a, b) => compare(b.remainder, a.remainder) || a.index - b.index);
  const extra = new Set(order.slice(0, Number(magnitude - given)).map(({ index }) => index));
  const sign = amount < 0 ? -1 : 1;
  return exact.map(({ index, floor }) => {
    const part = Number(floor) + (extra.has(index) ? 1 : 0);
    return nanoUsd(part === 0 ? 0 : sign * part);
  });
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
