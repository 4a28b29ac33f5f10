/**
 * A figure of a report as data, before anybody draws it.
 * Owns the two kinds; texts in it are plain and escaped by whoever draws them.
 */

/** Told apart by words as well: none of them is meant by its colour alone. */
export type FigureTone = 'good' | 'bad' | 'busy' | 'rest';

/** One bar a row; what it stands for is written behind it. */
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
