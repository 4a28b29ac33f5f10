/**
 * An answer of the simulator as lines of text: one bar per conversation under one axis of time.
 * Owns the drawing and its widths; must not know a terminal.
 */
import { formatDuration } from '../dsl/duration.ts';
import type { Activity } from './plan-timeline.ts';
import type { SimulatedConversation } from './simulate-plan.ts';

const MARKS: Readonly<Record<Activity, string>> = {
  queued: '.',
  starting: 's',
  working: '#',
  paused: '-',
  ended: ' ',
};

/** What the marks of the bars mean. */
export const LEGEND = '. queued   s starting   # working   - paused';

/** A longer key is cut; what is cut ends in "~". */
const KEY_WIDTH_MAX = 24;
/** Fewer cells show nothing; a terminal that is narrower breaks the lines itself. */
const BAR_WIDTH_MIN = 10;

interface GanttOptions {
  readonly conversations: readonly SimulatedConversation[];
  /** Epoch milliseconds of the left edge and of the right one. */
  readonly from: number;
  readonly until: number;
  /** Characters of a line at most. */
  readonly width: number;
}

/** The axis first; every line fits the width. */
export function gantt({ conversations, from, until, width }: GanttOptions): string[] {
  const longest = Math.max(3, ...conversations.map(({ key }) => key.length));
  const keyWidth = Math.min(longest, KEY_WIDTH_MAX);
  const barWidth = Math.max(BAR_WIDTH_MIN, width - keyWidth - 2);
  const cellMs = Math.max(1, (until - from) / barWidth);
  const bars = conversations.map((one) =>
    `${keyOf(one.key, keyWidth)}  ${bar(one, { from, cellMs, barWidth })}`.trimEnd(),
  );
  return [`${' '.repeat(keyWidth)}  ${axis(until - from, barWidth)}`, ...bars];
}

function keyOf(key: string, width: number): string {
  return key.length > width ? `${key.slice(0, width - 1)}~` : key.padEnd(width);
}

interface Scale {
  readonly from: number;
  readonly cellMs: number;
  readonly barWidth: number;
}

/** A cell shows what filled most of it: a start of seconds must not hide hours of work. */
function bar({ stretches }: SimulatedConversation, { from, cellMs, barWidth }: Scale): string {
  let text = '';
  for (let cell = 0; cell < barWidth; cell += 1) {
    const begin = from + cell * cellMs;
    const end = begin + cellMs;
    let best: { readonly as: Activity; readonly ms: number } = { as: 'ended', ms: 0 };
    for (const [at, { from: since, as }] of stretches.entries()) {
      const until = stretches[at + 1]?.from ?? Infinity;
      const ms = Math.min(end, until) - Math.max(begin, since);
      if (as !== 'ended' && ms > best.ms) best = { as, ms };
    }
    text += MARKS[best.as];
  }
  return text;
}

/** `0        1h30m        3h`, with what fits. */
function axis(spanMs: number, width: number): string {
  const end = formatDuration(spanMs);
  const half = formatDuration(spanMs / 2);
  const middle = Math.floor(width / 2);
  const left = `0${' '.repeat(Math.max(1, middle - 1))}${half}`;
  const gap = width - left.length - end.length;
  return gap < 1
    ? `0${' '.repeat(Math.max(1, width - 1 - end.length))}${end}`
    : `${left}${' '.repeat(gap)}${end}`;
}
