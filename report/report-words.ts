/**
 * Amounts, instants and lengths of time as a report writes them.
 * Owns the forms; amounts are rounded from integers and never through a fraction (D26).
 */
import { divideHalfEven, NANO_PER_MICRO, NANO_PER_USD } from '../core/money/money.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import type { UsdSum } from '../core/money/usd-sum.ts';
import type { OwnSpend } from './report-data.ts';

const NANO_DIGITS = 9;
const DOLLAR = BigInt(NANO_PER_USD);
const CENT = DOLLAR / 100n;
const NANO_PER_MICRO_EXACT = BigInt(NANO_PER_MICRO);

/**
 * An amount as people read it, `$0.0123`: the smaller it is, the more digits, and none that is something is nothing.
 * The exact one is in the footnote of a report.
 */
export function usdWords(nano: UsdSum): string {
  const exact = BigInt(nano);
  const magnitude = exact < 0n ? -exact : exact;
  const sign = exact < 0n ? '-' : '';
  if (magnitude === 0n) return '$0.00';
  if (magnitude < NANO_PER_MICRO_EXACT) return exact < 0n ? '> -$0.000001' : '< $0.000001';
  const digits = magnitude >= DOLLAR ? 2 : magnitude >= CENT ? 4 : 6;
  const units = divideHalfEven(magnitude, 10n ** BigInt(NANO_DIGITS - digits));
  const text = units.toString().padStart(digits + 1, '0');
  return `${sign}$${grouped(text.slice(0, -digits))}.${text.slice(-digits)}`;
}

/** An exact amount in nano-dollars: `1,234,567`. */
export function nanoWords(nano: UsdSum): string {
  const text = BigInt(nano).toString();
  return text.startsWith('-') ? `-${grouped(text.slice(1))}` : grouped(text);
}

/** `1,234,567` */
export function grouped(digits: string): string {
  return digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** What our proxy knows; unpriced calls are named and are never 0. */
export function spentWords({ calls, unpriced, nanoUsd: nano }: OwnSpend): string {
  if (unpriced === 0) return usdWords(nano);
  const words = `${unpriced} unpriced`;
  return unpriced === calls ? words : `${usdWords(nano)} + ${words}`;
}

/** `2026-11-21 04:31:05 UTC`; a dash when it has not come. */
export function instant(at: number | null): string {
  return at === null ? '-' : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `12 s`, `3 min 5 s`, `1 h 2 min`; a dash when it has not ended. */
export function duration(ms: number | null): string {
  if (ms === null) return '-';
  const whole = Math.max(0, ms);
  if (whole < MINUTE_MS) return `${Math.floor(whole / SECOND_MS)} s`;
  if (whole < HOUR_MS)
    return `${Math.floor(whole / MINUTE_MS)} min ${Math.floor((whole % MINUTE_MS) / SECOND_MS)} s`;
  return `${Math.floor(whole / HOUR_MS)} h ${Math.floor((whole % HOUR_MS) / MINUTE_MS)} min`;
}

/** What was printed elsewhere in full is cut here, and says so. */
export function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}
