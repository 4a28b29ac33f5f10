/**
 * A bar per conversation as a figure: queued, starting, working, paused.
 * Owns the bars and how many are drawn; the text form is in gantt.ts.
 */
import { escapeText } from '../../report/page/page.ts';
import type { SimulatedConversation } from '../simulate-plan.ts';
import { chart, CHART_LABEL_X, CHART_TOP, timeX, type TimeSpan } from './chart.ts';
import { coordinate, sinceText } from './markup.ts';

/** More bars make a page of megabytes that nobody scrolls to the end of. */
export const GANTT_ROWS_MAX = 500;
/** An item that was tried a thousand times shows its beginning. */
const STRETCHES_MAX = 200;
const ROW_HEIGHT = 18;
const BAR_HEIGHT = 12;
/** Nothing that happened is so short that it cannot be seen. */
const BAR_WIDTH_MIN = 0.75;
/** A longer key is cut; its whole is in the title. */
const KEY_LENGTH_MAX = 26;

export function ganttFigure(conversations: readonly SimulatedConversation[], span: TimeSpan): string {
  const shown = conversations.slice(0, GANTT_ROWS_MAX);
  const more = conversations.length - shown.length;
  const note = more > 0 ? `, the first ${GANTT_ROWS_MAX} of ${conversations.length}` : '';
  return chart(
    {
      id: 'gantt',
      title: `Conversations over time${note}`,
      description: 'One bar per conversation; the table of conversations below tells the same in words.',
      span,
      height: Math.max(1, shown.length) * ROW_HEIGHT,
      ticks: [],
    },
    shown.map((one, index) => row(one, index, span)),
  );
}

function row({ key, stretches }: SimulatedConversation, index: number, span: TimeSpan): string {
  const top = CHART_TOP + index * ROW_HEIGHT;
  const cut = key.length > KEY_LENGTH_MAX ? `${key.slice(0, KEY_LENGTH_MAX - 1)}\u2026` : key;
  const bars = stretches.slice(0, STRETCHES_MAX).flatMap(({ from, as }, at) => {
    const until = stretches[at + 1]?.from ?? span.until;
    if (as === 'ended' || from >= span.until) return [];
    const x = timeX(span, from);
    const width = Math.max(BAR_WIDTH_MIN, timeX(span, until) - x);
    const title = `${key}: ${as} from ${sinceText(from - span.from)} to ${sinceText(until - span.from)}`;
    return [
      `<rect class="${as}" x="${coordinate(x)}" y="${top + 3}" width="${coordinate(width)}" height="${BAR_HEIGHT}"><title>${escapeText(title)}</title></rect>`,
    ];
  });
  return [
    `<text x="${CHART_LABEL_X}" y="${top + 13}" text-anchor="end">${escapeText(cut)}<title>${escapeText(key)}</title></text>`,
    ...bars,
  ].join('\n');
}
