/**
 * What a call costs by the price of its entry, exactly.
 * Owns prices as integers of 10^-15 USD and the one rounding to nano-USD (half-even, D26); must not know where
 * token counts come from.
 */
import { divideHalfEven, nanoUsd, type NanoUsd } from '../core/money.ts';

/** Integer femto-USD: 1 USD is 10^15, so 0.00000025 USD a token is 250_000_000. */
export interface TokenPrice {
  readonly inputFemtoUsd: bigint;
  readonly outputFemtoUsd: bigint;
}

export interface TokenCounts {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

const FEMTO_DIGITS = 15;
const FEMTO_PER_NANO = 1_000_000n;
const DECIMAL = /^(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Reads a decimal USD price a token; null when it is no such number, is negative or is finer than 10^-15 USD. */
export function parsePrice(text: string): bigint | null {
  const match = DECIMAL.exec(text.trim());
  if (!match) return null;
  const [, whole = '0', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const shift = FEMTO_DIGITS - fraction.length + Number(exponent);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : null;
}

/**
 * The cost of one call: exact in femto-USD, rounded half-even to a nano-USD once.
 * @throws RangeError when the amount is no safe integer of nano-USD (about nine million USD).
 */
export function costOf(price: TokenPrice, tokens: TokenCounts): NanoUsd {
  const femto =
    price.inputFemtoUsd * BigInt(tokens.promptTokens) +
    price.outputFemtoUsd * BigInt(tokens.completionTokens);
  return nanoUsd(Number(divideHalfEven(femto, FEMTO_PER_NANO)));
}
