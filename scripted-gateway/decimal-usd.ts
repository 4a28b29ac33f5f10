// Exact decimal money: text to an integer number of nano-USD and back. No floating point number enters or leaves.
// It must not know prices, tokens or rows.

const digitsAfterPoint = 9;
/** Nano-USD in one USD. */
export const nanoPerUsd = 1_000_000_000n;
const decimalPattern = /^(\d{1,18})(?:\.(\d{1,9}))?$/;

/** Nano-USD of a plain decimal such as `2.50`; null when it is none, is negative, or has more than 18 digits before the point or nine after it. */
export function parseUsd(text: string): bigint | null {
  const match = decimalPattern.exec(text);
  if (match === null) return null;
  const fraction = (match[2] ?? '').padEnd(digitsAfterPoint, '0');
  return BigInt(match[1] ?? '0') * nanoPerUsd + BigInt(fraction);
}

/** The shortest plain decimal of an amount of nano-USD, zero or more: `0.00345`, `12`, `0`. */
export function formatUsd(nanoUsd: bigint): string {
  const whole = (nanoUsd / nanoPerUsd).toString();
  const fraction = (nanoUsd % nanoPerUsd).toString().padStart(digitsAfterPoint, '0').replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Integer division of two non-negative numbers, rounded half to even (the rounding of D26). */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twiceRest = (dividend % divisor) * 2n;
  if (twiceRest > divisor) return quotient + 1n;
  if (twiceRest < divisor) return quotient;
  return quotient + (quotient % 2n);
}
