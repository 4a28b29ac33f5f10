/**
 * A figure as SVG inside a page: drawn for the eye, told in words for those who cannot see it.
 * Pure; owns sizes and scales. Every text that comes from outside is escaped here.
 */
import { escapeText as escape } from '../page/page.ts';
import { cut, duration } from '../report-words.ts';
import type { Bars, Figure, Levels } from './figure.ts';

/** Units of the drawing; the page scales it to its own width. */
const WIDTH = 640;
const LABEL_WIDTH = 210;
const WORDS_WIDTH = 100;
const ROW_HEIGHT = 24;
const BAR_HEIGHT = 16;
/** What fits into the width of a label. */
const LABEL_CHARACTERS = 30;
const LEVELS_HEIGHT = 200;
const LEVELS_LEFT = 44;
const AXIS_HEIGHT = 24;
const TIME_TICKS = 4;

const TONES = { good: '--good', bad: '--bad', busy: '--busy', rest: '--series-11' } as const;

/** By the console's colours. */
export const FIGURE_STYLE = `
${Object.entries(TONES)
  .map(([tone, token]) => `.f-${tone}{fill:var(${token})}.line.f-${tone}{fill:none;stroke:var(${token})}`)
  .join('\n')}
.legend svg{display:inline-block;width:12px;height:12px;margin-right:6px;vertical-align:-1px}
`;

export function drawFigure(figure: Figure): string {
  const { id, title, about } = figure;
  const drawing = figure.kind === 'bars' ? drawBars(figure) : drawLevels(figure);
  return [
    `<figure id="${escape(id)}" class="card">`,
    `<figcaption>${escape(title)}<small>${escape(about)}</small></figcaption>`,
    ...(figure.kind === 'levels' ? [legend(figure)] : []),
    '<div class="wide" tabindex="0">',
    `<svg class="drawn" viewBox="0 0 ${WIDTH} ${drawing.height}" role="img" aria-label="${escape(`${title}: ${inWords(figure)}`)}">`,
    ...drawing.content,
    '</svg>',
    '</div>',
    '</figure>',
  ].join('\n');
}

interface Drawing {
  readonly height: number;
  readonly content: readonly string[];
}

function drawBars({ rows }: Bars): Drawing {
  const most = Math.max(...rows.map(({ value }) => value));
  const room = WIDTH - LABEL_WIDTH - WORDS_WIDTH;
  const content = rows.map(({ label, value, words, tone }, index) => {
    const top = index * ROW_HEIGHT;
    const width = most === 0 ? 0 : (value / most) * room;
    const middle = top + ROW_HEIGHT / 2;
    return [
      `<text x="${LABEL_WIDTH - 8}" y="${middle}" dy="4" text-anchor="end">${escape(cut(label, LABEL_CHARACTERS))}</text>`,
      `<rect class="f-${tone}" x="${LABEL_WIDTH}" y="${top + (ROW_HEIGHT - BAR_HEIGHT) / 2}" width="${point(width)}" height="${BAR_HEIGHT}"/>`,
      `<text x="${point(LABEL_WIDTH + width + 6)}" y="${middle}" dy="4">${escape(words)}</text>`,
    ].join('');
  });
  return { height: rows.length * ROW_HEIGHT, content };
}

function drawLevels(levels: Levels): Drawing {
  const { series, form, lengthMs } = levels;
  const points = series[0]?.values.length ?? 0;
  const tops =
    form === 'stacked' ? stacked(series.map(({ values }) => values)) : series.map(({ values }) => values);
  const most = Math.max(1, ...tops.map((values) => Math.max(...values)));
  const x = (index: number): number =>
    LEVELS_LEFT + (index / Math.max(1, points - 1)) * (WIDTH - LEVELS_LEFT - 10);
  const y = (value: number): number => 10 + (LEVELS_HEIGHT - 10) * (1 - value / most);
  // The highest first: each area is painted over by those below it.
  const shapes = series.map(({ tone }, index) => {
    const line = (tops[index] ?? []).map((value, at) => `${point(x(at))},${point(y(value))}`);
    if (form === 'lines') return `<polyline class="line f-${tone}" points="${line.join(' ')}"/>`;
    const ground = [`${point(x(points - 1))},${point(y(0))}`, `${point(x(0))},${point(y(0))}`];
    return `<polygon class="f-${tone}" points="${[...line, ...ground].join(' ')}"/>`;
  });
  return {
    height: LEVELS_HEIGHT + AXIS_HEIGHT,
    content: [...shapes.reverse(), ...valueTicks(most, y), ...timeTicks(lengthMs)],
  };
}

/** Each on top of those before it. */
function stacked(all: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const tops: (readonly number[])[] = [];
  for (const values of all) {
    const below = tops.at(-1);
    tops.push(values.map((value, at) => value + (below?.[at] ?? 0)));
  }
  return tops;
}

function valueTicks(most: number, y: (value: number) => number): readonly string[] {
  const values = [...new Set([0, Math.floor(most / 2), most])];
  return values.map((value) => {
    const at = point(y(value));
    const line = `<line class="grid" x1="${LEVELS_LEFT}" x2="${WIDTH - 10}" y1="${at}" y2="${at}"/>`;
    return `${line}<text x="${LEVELS_LEFT - 8}" y="${at}" dy="4" text-anchor="end">${value}</text>`;
  });
}

function timeTicks(lengthMs: number): readonly string[] {
  return Array.from({ length: TIME_TICKS + 1 }, (_, index) => {
    const x = point(LEVELS_LEFT + (index / TIME_TICKS) * (WIDTH - LEVELS_LEFT - 10));
    const anchor = index === 0 ? 'start' : index === TIME_TICKS ? 'end' : 'middle';
    const words = duration((lengthMs * index) / TIME_TICKS);
    return `<text x="${x}" y="${LEVELS_HEIGHT + 18}" text-anchor="${anchor}">${words}</text>`;
  });
}

function legend({ series }: Levels): string {
  const entries = series.map(
    ({ name, tone }) =>
      `<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="f-${tone}" width="10" height="10"/></svg>${escape(name)}</li>`,
  );
  return `<ul class="legend">${entries.join('')}</ul>`;
}

function inWords(figure: Figure): string {
  if (figure.kind === 'bars') return figure.rows.map(({ label, words }) => `${label} ${words}`).join(', ');
  return figure.series.map(({ name, values }) => `${name} at most ${Math.max(...values)}`).join(', ');
}

/** A coordinate with what can be seen of it. */
function point(value: number): string {
  return String(Math.round(value * 100) / 100);
}
