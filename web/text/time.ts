/**
 * Instants and durations as a person reads them.
 * Owns the units; `now` is a parameter.
 */
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** "3 min ago" */
export function ago(atMs: number, nowMs: number): string {
  const passed = nowMs - atMs;
  if (passed < 5 * SECOND_MS) return 'just now';
  if (passed >= 2 * DAY_MS) return `${Math.floor(passed / DAY_MS)} days ago`;
  return `${duration(passed).split(' ').slice(0, 2).join(' ')} ago`;
}

/** "1 h 5 min", "2 min 3 s", "4 s" */
export function duration(ms: number): string {
  if (ms >= DAY_MS) return two(ms, [DAY_MS, 'd'], [HOUR_MS, 'h']);
  if (ms >= HOUR_MS) return two(ms, [HOUR_MS, 'h'], [MINUTE_MS, 'min']);
  if (ms >= MINUTE_MS) return two(ms, [MINUTE_MS, 'min'], [SECOND_MS, 's']);
  return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`;
}

/** As `duration`, with what is below a second. */
export function exactDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  return ms < 10 * SECOND_MS ? `${(ms / SECOND_MS).toFixed(1)} s` : duration(ms);
}

/** "2026-03-04 10:11:12 UTC"; empty for what is no instant. */
export function utc(atMs: number): string {
  if (Number.isNaN(atMs)) return '';
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

type Unit = readonly [ms: number, name: string];

function two(ms: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  const first = `${Math.floor(ms / large)} ${largeName}`;
  return rest === 0 ? first : `${first} ${rest} ${smallName}`;
}

/** An instant of the agent has no zone, and is UTC. */
export function parsedInstant(text: string): number {
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
}

/** Between two instants of the wire; without the second, until now. */
export function durationBetween(from: string, until: string | null): string {
  return duration((until === null ? Date.now() : parsedInstant(until)) - parsedInstant(from));
}
