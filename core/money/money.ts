/**
 * Money as integers: nano-USD everywhere, micro-USD only in totals (D26).
 * Owns rounding and printing; must not know a price or a currency other than USD.
 * Amounts stay below Number.MAX_SAFE_INTEGER: about nine million USD in nano-USD. Sums that may not are a `UsdSum`.
 */
import type { UsdSum } from './usd-sum.ts';

/** Integer nano-USD: 1 USD is 1_000_000_000. */
export type NanoUsd = number & { readonly __nanoUsd: unique symbol };

export const NANO_PER_USD = 1_000_000_000;
export const NANO_PER_MICRO = 1_000;

/** No money at all. */
export const ZERO_USD = 0 as NanoUsd;

/** @throws RangeError when the amount is not a safe integer. */
export function nanoUsd(amount: number): NanoUsd {
  if (!Number.isSafeInteger(amount))
    throw new RangeError(`Cannot hold the amount "${amount}": not a safe integer of nano-USD`);
  return amount as NanoUsd;
}

export function addUsd(a: NanoUsd, b: NanoUsd): NanoUsd {
  return nanoUsd(a + b);
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
const NANO_DIGITS = 9;
const TENS = Array.from({ length: NANO_DIGITS + 1 }, (_, power) => 10 ** power);
/** Below a million USD, no finer than a nano-USD. */
const SHORT_USD = /^(\d{1,6})(?:\.(\d{1,9}))?$/;

/** A decimal as it was written: `digits` / 10^`scale`. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly digits: bigint;
  readonly scale: number;
}

/** Null when the text is not a plain decimal number, with or without an exponent. */
export function parseDecimal(text: string): Decimal | null {
  const match = DECIMAL.exec(plainDecimal(text.trim()));
  if (!match) return null;
  const [, sign, whole = '0', fraction = ''] = match;
  return { isNegative: sign === '-', digits: BigInt(whole + fraction), scale: fraction.length };
}

/** In nano-USD, rounded half-even once; null when it is no safe integer. */
export function decimalToUsd({ isNegative, digits, scale }: Decimal): NanoUsd | null {
  const up = 10n ** BigInt(Math.max(0, NANO_DIGITS - scale));
  const nano = Number(divideHalfEven(digits * up, 10n ** BigInt(Math.max(0, scale - NANO_DIGITS))));
  return Number.isSafeInteger(nano) ? ((isNegative && nano !== 0 ? -nano : nano) as NanoUsd) : null;
}

/**
 * Reads a decimal USD text exactly. More than nine fractional digits are rounded half-even to a nano-USD.
 * Returns null when the text is not a plain decimal number.
 */
export function parseUsd(text: string): NanoUsd | null {
  // What most amounts are needs no arithmetic beyond 2^53; a bill may have millions.
  const short = SHORT_USD.exec(text);
  if (short !== null) {
    const [, whole = '0', fraction = ''] = short;
    const nano = Number(fraction) * (TENS[NANO_DIGITS - fraction.length] ?? 1);
    return (Number(whole) * NANO_PER_USD + nano) as NanoUsd;
  }
  const decimal = parseDecimal(text);
  return decimal === null ? null : decimalToUsd(decimal);
}

/** Gateways print tiny amounts in exponent form; it is exact once the point is moved. */
function plainDecimal(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,3})$/.exec(text);
  if (!match) return text;
  const [, sign, whole = '0', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits.padEnd(point, '0')}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Half-even division of a value of 0 or more. */
export function divideHalfEven(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  const twice = (value % divisor) * 2n;
  if (twice < divisor) return quotient;
  if (twice > divisor) return quotient + 1n;
  return quotient % 2n === 0n ? quotient : quotient + 1n;
}

/** A total in whole micro-USD, rounded half-even, and the nano-USD left over (D26: the remainder is shown). */
export interface MicroTotal {
  readonly microUsd: number;
  readonly remainderNanoUsd: number;
}

/** Rounded to whole micro-dollars, halves to the even one. */
export function toMicro(total: UsdSum): MicroTotal {
  const exact = BigInt(total);
  const magnitude = exact < 0n ? -exact : exact;
  const rounded = divideHalfEven(magnitude, BigInt(NANO_PER_MICRO));
  const micro = exact < 0n ? -rounded : rounded;
  return { microUsd: Number(micro), remainderNanoUsd: Number(exact - micro * BigInt(NANO_PER_MICRO)) };
}

/** Prints micro-USD with six decimals, e.g. "0.012345". */
export function formatMicro(microUsd: number): string {
  const sign = microUsd < 0 ? '-' : '';
  const magnitude = Math.abs(microUsd);
  return `${sign}${Math.floor(magnitude / 1_000_000)}.${String(magnitude % 1_000_000).padStart(6, '0')}`;
}

/** Prints a total, rounded as totals are, e.g. "$0.012345". */
export function formatUsd(total: UsdSum): string {
  return `$${formatMicro(toMicro(total).microUsd)}`;
}

/** Prints an exact amount with nine decimals, e.g. "0.012345678". */
export function formatNano(amount: UsdSum): string {
  const exact = BigInt(amount);
  const magnitude = exact < 0n ? -exact : exact;
  const nano = BigInt(NANO_PER_USD);
  return `${exact < 0n ? '-' : ''}${magnitude / nano}.${String(magnitude % nano).padStart(9, '0')}`;
}
