/**
 * Amounts, instants and lengths of time as a report writes them.
 * Owns the forms; amounts are printed from integers and never through a fraction (D26).
 */
import { formatMicro, formatNano, toMicro } from '../core/money/money.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import type { UsdSum } from '../core/money/usd-sum.ts';
import type { OwnSpend } from './report-data.ts';

/** One amount, exact: `0.012345678`. */
export function exactUsd(nano: UsdSum): string {
  return formatNano(nano);
}

/** A total: whole micro-USD, and what was rounded away in nano-USD. */
export function totalUsd(nano: UsdSum): { readonly usd: string; readonly remainder: string } {
  const { microUsd, remainderNanoUsd } = toMicro(nano);
  const sign = remainderNanoUsd > 0 ? '+' : '';
  return { usd: formatMicro(microUsd), remainder: `${sign}${remainderNanoUsd}` };
}

/** What our proxy knows; unpriced calls are named and are never 0. */
export function spentWords({ calls, unpriced, nanoUsd: nano }: OwnSpend): string {
  if (unpriced === 0) return exactUsd(nano);
  const words = `${unpriced} unpriced`;
  return unpriced === calls ? words : `${exactUsd(nano)} + ${words}`;
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
