/**
 * Durations as people write them: `90s`, `45m`, `11h30m`, `2d`.
 * Owns the spelling; must not know what a duration is for.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/time.ts';

/** Days, hours, minutes, seconds in this order, at least one of them, at most six digits each. */
export const DURATION_PATTERN = /^(?=\d)(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

/** Milliseconds, or null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const match = DURATION_PATTERN.exec(text);
  if (!match) return null;
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = match;
  return (
    Number(days) * DAY_MS +
    Number(hours) * HOUR_MS +
    Number(minutes) * MINUTE_MS +
    Number(seconds) * SECOND_MS
  );
}

/** The shortest spelling; parts of a second are dropped. */
export function formatDuration(durationMs: number): string {
  const parts: string[] = [];
  let restMs = durationMs;
  for (const [unitMs, letter] of [
    [DAY_MS, 'd'],
    [HOUR_MS, 'h'],
    [MINUTE_MS, 'm'],
    [SECOND_MS, 's'],
  ] as const) {
    const count = Math.floor(restMs / unitMs);
    if (count > 0) parts.push(`${count}${letter}`);
    restMs -= count * unitMs;
  }
  return parts.join('') || '0s';
}
