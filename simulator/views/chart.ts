/**
 * The paper under every figure of a page: one scale of time for all of them, axes, a title for those who cannot see.
 * Owns sizes and scales; what is drawn on it comes from the figure.
 */
import { formatDuration } from '../../dsl/duration.ts';
import { escapeText } from '../../report/page/page.ts';

/** Units of the drawing; the page scales it to its own width. */
const WIDTH = 1_000;
/** Room for keys of conversations and for amounts. */
const LEFT = 190;
const RIGHT = 20;
const TOP = 10;
const BOTTOM = 26;
const TIME_TICKS = 4;

/** Epoch milliseconds of the two edges. */
export interface TimeSpan {
  readonly from: number;
  readonly until: number;
}

export interface ChartOptions {
  /** Of the figure, a word; unique in the page. */
  readonly id: string;
  readonly title: string;
  /** What it shows, as a sentence. */
  readonly description: string;
  readonly span: TimeSpan;
  /** Height of the drawing area. */
  readonly height: number;
  /** Marks on the left, from below; none when the figure has its own. */
  readonly ticks: readonly { readonly share: number; readonly text: string }[];
}

/** Where an instant is, from left to right. */
export function timeX({ from, until }: TimeSpan, at: number): number {
  const share = until === from ? 0 : (Math.min(until, Math.max(from, at)) - from) / (until - from);
  return LEFT + share * (WIDTH - LEFT - RIGHT);
}

/** Where a share of the height is, 0 below and 1 above. */
export function shareY(height: number, share: number): number {
  return TOP + height * (1 - share);
}

export const CHART_TOP = TOP;
export const CHART_LABEL_X = LEFT - 8;

/** A figure with its caption; `content` is markup of this page's own making. */
export function chart(options: ChartOptions, content: readonly string[]): string {
  const { id, title, description, height } = options;
  const total = TOP + height + BOTTOM;
  return [
    `<figure id="${id}" class="card">`,
    `<figcaption>${escapeText(title)}</figcaption>`,
    '<div class="scroll" tabindex="0">',
    `<svg class="drawn" viewBox="0 0 ${WIDTH} ${coordinate(total)}" role="img" aria-labelledby="${id}-title ${id}-text">`,
    `<title id="${id}-title">${escapeText(title)}</title>`,
    `<desc id="${id}-text">${escapeText(description)}</desc>`,
    ...grid(options),
    ...content,
    '</svg>',
    '</div>',
    '</figure>',
  ].join('\n');
}

function grid({ span, height, ticks }: ChartOptions): string[] {
  const times = Array.from({ length: TIME_TICKS + 1 }, (_, index) => {
    const at = span.from + ((span.until - span.from) * index) / TIME_TICKS;
    const x = coordinate(timeX(span, at));
    const anchor = index === 0 ? 'start' : index === TIME_TICKS ? 'end' : 'middle';
    return [
      `<line class="grid" x1="${x}" x2="${x}" y1="${TOP}" y2="${coordinate(TOP + height)}"/>`,
      `<text x="${x}" y="${coordinate(TOP + height + 18)}" text-anchor="${anchor}">${sinceText(at - span.from)}</text>`,
    ].join('');
  });
  const levels = ticks.map(({ share, text }) => {
    const y = coordinate(shareY(height, share));
    return [
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>`,
      `<text x="${CHART_LABEL_X}" y="${y}" dy="4" text-anchor="end">${escapeText(text)}</text>`,
    ].join('');
  });
  return [...times, ...levels];
}

/** Since the beginning, as in `1h30m`; a dash for what has not come. */
export function sinceText(ms: number | null): string {
  return ms === null ? '-' : formatDuration(ms);
}

/** A coordinate with what can be seen of it. */
export function coordinate(value: number): string {
  return String(Math.round(value * 100) / 100);
}
