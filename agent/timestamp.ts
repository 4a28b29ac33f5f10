/**
 * Event and record times. Owns their spelling and the rule that event times strictly increase.
 * Event times are naive on the wire; we write UTC, since naive local time runs backwards once a year.
 */

/** `2026-05-02T09:30:01.120000` from epoch microseconds. */
export function naiveTimestamp(epochUs: number): string {
  const ms = Math.floor(epochUs / 1000);
  const us = epochUs - ms * 1000;
  return `${new Date(ms).toISOString().slice(0, -1)}${String(us).padStart(3, '0')}`;
}

/** `2026-05-02T09:30:01.120000Z` from epoch milliseconds. */
export function zonedTimestamp(epochMs: number): string {
  return `${naiveTimestamp(epochMs * 1000)}Z`;
}

/** Epoch microseconds of a timestamp, zoned or naive (then UTC); null when it is none. */
export function parseTimestampUs(text: string): number | null {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:?\d\d)?$/.exec(
    text.replace(' ', 'T'),
  );
  if (match === null) return null;
  const ms = Date.parse(`${match[1]}${match[3] ?? 'Z'}`);
  return Number.isNaN(ms) ? null : ms * 1000 + Number((match[2] ?? '').padEnd(6, '0'));
}

/** The next event time: now, or one microsecond after the last one when the clock has not moved past it. */
export function nextEventUs(lastUs: number, nowMs: number): number {
  return Math.max(nowMs * 1000, lastUs + 1);
}
