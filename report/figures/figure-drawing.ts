/**
 * A figure as shapes with coordinates of its own. A report draws it as SVG in its page, the console as elements.
 * Pure; owns sizes and scales. Texts in it are plain, and the code that draws them escapes them.
 */
import { cut, duration } from '../report-words.ts';

/** Units of the drawing; report and console scale it to their own width. */
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

/** Coordinates with their visible form. */
export type Shape =
  | {
      readonly kind: 'words';
      readonly x: number;
      readonly y: number;
      readonly anchor: 'start' | 'middle' | 'end';
      readonly text: string;
    }
  | {
      readonly kind: 'bar';
      readonly tone: FigureTone;
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
    }
  /** An open line, or an area that it closes; `points` as SVG has them. */
  | { readonly kind: 'line' | 'area'; readonly tone: FigureTone; readonly points: string }
  /** A line of the grid. */
  | { readonly kind: 'rule'; readonly x1: number; readonly x2: number; readonly y: number };

/** A figure as shapes, with its description in words. */
export interface FigureDrawing {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** For readers who cannot see it. */
  readonly words: string;
  /** Names of the coloured series; empty where the bars have labels. */
  readonly legend: readonly { readonly name: string; readonly tone: FigureTone }[];
  readonly width: number;
  readonly height: number;
  /** In the order in which they are painted. */
  readonly shapes: readonly Shape[];
}

/** Shapes, axes and legend of a figure, in pixels; null data draws nothing. */
export function figureDrawing(figure: Figure): FigureDrawing {
  const { id, title, about } = figure;
  const drawing = figure.kind === 'bars' ? barsDrawing(figure) : levelsDrawing(figure);
  const legend = figure.kind === 'levels' ? figure.series.map(({ name, tone }) => ({ name, tone })) : [];
  return { id, title, about, words: inWords(figure), legend, width: WIDTH, ...drawing };
}

type Drawing = Pick<FigureDrawing, 'height' | 'shapes'>;

function barsDrawing({ rows }: Bars): Drawing {
  const most = Math.max(...rows.map(({ value }) => value));
  const room = WIDTH - LABEL_WIDTH - WORDS_WIDTH;
  const shapes = rows.flatMap(({ label, value, words, tone }, index): readonly Shape[] => {
    const top = index * ROW_HEIGHT;
    const width = most === 0 ? 0 : (value / most) * room;
    const y = top + ROW_HEIGHT / 2;
    return [
      { kind: 'words', x: LABEL_WIDTH - 8, y, anchor: 'end', text: cut(label, LABEL_CHARACTERS) },
      {
        ...{ kind: 'bar', tone, x: LABEL_WIDTH, y: top + (ROW_HEIGHT - BAR_HEIGHT) / 2 },
        ...{ width: seen(width), height: BAR_HEIGHT },
      },
      { kind: 'words', x: seen(LABEL_WIDTH + width + 6), y, anchor: 'start', text: words },
    ];
  });
  return { height: rows.length * ROW_HEIGHT, shapes };
}

function levelsDrawing({ series, form, lengthMs }: Levels): Drawing {
  const points = series[0]?.values.length ?? 0;
  const tops =
    form === 'stacked' ? stacked(series.map(({ values }) => values)) : series.map(({ values }) => values);
  const most = Math.max(1, ...tops.map((values) => Math.max(...values)));
  const x = (index: number): number =>
    LEVELS_LEFT + (index / Math.max(1, points - 1)) * (WIDTH - LEVELS_LEFT - 10);
  const y = (value: number): number => 10 + (LEVELS_HEIGHT - 10) * (1 - value / most);
  const shapes = series.map(({ tone }, index): Shape => {
    const line = (tops[index] ?? []).map((value, at) => `${seen(x(at))},${seen(y(value))}`);
    if (form === 'lines') return { kind: 'line', tone, points: line.join(' ') };
    const ground = [`${seen(x(points - 1))},${seen(y(0))}`, `${seen(x(0))},${seen(y(0))}`];
    return { kind: 'area', tone, points: [...line, ...ground].join(' ') };
  });
  return {
    height: LEVELS_HEIGHT + AXIS_HEIGHT,
    // The highest first: each area is painted over by those below it.
    shapes: [...shapes.reverse(), ...valueTicks(most, y), ...timeTicks(lengthMs)],
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

function valueTicks(most: number, y: (value: number) => number): readonly Shape[] {
  const values = [...new Set([0, Math.floor(most / 2), most])];
  return values.flatMap((value): readonly Shape[] => [
    { kind: 'rule', x1: LEVELS_LEFT, x2: WIDTH - 10, y: seen(y(value)) },
    { kind: 'words', x: LEVELS_LEFT - 8, y: seen(y(value)), anchor: 'end', text: String(value) },
  ]);
}

function timeTicks(lengthMs: number): readonly Shape[] {
  return Array.from({ length: TIME_TICKS + 1 }, (_, index): Shape => {
    const x = seen(LEVELS_LEFT + (index / TIME_TICKS) * (WIDTH - LEVELS_LEFT - 10));
    const anchor = index === 0 ? 'start' : index === TIME_TICKS ? 'end' : 'middle';
    return {
      kind: 'words',
      x,
      y: LEVELS_HEIGHT + 14,
      anchor,
      text: duration((lengthMs * index) / TIME_TICKS),
    };
  });
}

function inWords(figure: Figure): string {
  if (figure.kind === 'bars') return figure.rows.map(({ label, words }) => `${label} ${words}`).join(', ');
  return figure.series.map(({ name, values }) => `${name} at most ${Math.max(...values)}`).join(', ');
}

function seen(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * A figure of a report as data, before it is drawn.
 * Owns the two kinds; texts in it are plain, and the code that draws them escapes them.
 */

/** Words distinguish them as well: no meaning depends on the colour alone. */
export type FigureTone = 'good' | 'bad' | 'busy' | 'rest';

/** One bar a row; its value in words follows it. */
export interface Bars {
  readonly kind: 'bars';
  /** Unique in the report, a word. */
  readonly id: string;
  readonly title: string;
  /** What it shows, as a sentence. */
  readonly about: string;
  readonly rows: readonly {
    readonly label: string;
    readonly value: number;
    readonly words: string;
    readonly tone: FigureTone;
  }[];
}

/** Null without rows. */
export function bars(named: Pick<Bars, 'id' | 'title' | 'about'>, rows: Bars['rows']): Bars | null {
  return rows.length === 0 ? null : { kind: 'bars', ...named, rows };
}

/** Numbers over time, at even distances. */
export interface Levels {
  readonly kind: 'levels';
  readonly id: string;
  readonly title: string;
  readonly about: string;
  /** Milliseconds that the figure covers. */
  readonly lengthMs: number;
  /** Stacked from below as areas, or lines beside each other. */
  readonly form: 'stacked' | 'lines';
  readonly series: readonly {
    readonly name: string;
    readonly tone: FigureTone;
    readonly values: readonly number[];
  }[];
}

export type Figure = Bars | Levels;
