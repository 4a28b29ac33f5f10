/**
 * Waiting times as HTTP spells them: `retry-after` in seconds or as a date, and the forms beside it.
 * Owns their reading; must not wait, and must not know a header's name.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts';

const SECONDS = /^\d+(?:\.\d+)?$/;
/** The three forms of a date of HTTP, which is in GMT whether it says so or not, and that of ISO. */
const DATE = /^(?:[A-Za-z]{3,9},? |\d{4}-\d\d-\d\d[T ]\d\d:\d\d)/;
const ZONED = /(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/i;

/** Milliseconds from `nowMs` on, 0 for a moment that has passed; null when the text is neither. */
export function retryAfterMs(text: string | null | undefined, nowMs: number): number | null {
  const value = text?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * SECOND_MS;
  const at = momentMs(value);
  return at === null ? null : Math.max(0, at - nowMs);
}

/** Epoch milliseconds of a date; null when the text is none. */
export function momentMs(text: string): number | null {
  if (!DATE.test(text)) return null;
  const at = Date.parse(ZONED.test(text) ? text : `${text}${/^\d/.test(text) ? 'Z' : ' GMT'}`);
  return Number.isNaN(at) ? null : at;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const PARTS = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/** A length of time such as "120ms", "8.64s" or "6m0s", in milliseconds; null when the text is none. */
export function lengthMs(text: string): number | null {
  if (!DURATION.test(text)) return null;
  let total = 0;
  for (const [, amount, unit = ''] of text.matchAll(PARTS)) total += Number(amount) * (UNITS_MS[unit] ?? 0);
  return total;
}
