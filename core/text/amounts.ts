/**
 * Money, stretches of time and instants in few characters.
 * Owns the forms; amounts are rounded as totals are (D26).
 */
import { formatUsd } from '../money/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.ts';
import type { UsdSum } from '../money/usd-sum.ts';

/** `$0.012345`; a dash for an unknown amount, which is never 0. */
export function usd(nano: UsdSum | null): string {
  return nano === null ? '-' : formatUsd(nano);
}

/** `12s`, `3m05s`, `1h02m`, `2d03h`; a dash when it has not begun. */
export function duration(ms: number | null): string {
  if (ms === null) return '-';
  const whole = Math.max(0, ms);
  if (whole < MINUTE_MS) return `${Math.floor(whole / SECOND_MS)}s`;
  if (whole < HOUR_MS) return pair(whole, [MINUTE_MS, 'm'], [SECOND_MS, 's']);
  if (whole < DAY_MS) return pair(whole, [HOUR_MS, 'h'], [MINUTE_MS, 'm']);
  return pair(whole, [DAY_MS, 'd'], [HOUR_MS, 'h']);
}

type Unit = readonly [ms: number, letter: string];

function pair(ms: number, [big, bigSign]: Unit, [small, smallSign]: Unit): string {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)}${bigSign}${String(rest).padStart(2, '0')}${smallSign}`;
}

/** `04:31:05`, UTC like every instant that Parley prints. */
export function timeOfDay(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

/** `2026-11-21 04:31:05Z` */
export function instant(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
