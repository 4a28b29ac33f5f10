/**
 * Text on its way to a terminal: harmless, cut and aligned.
 * Owns widths and control characters; must not know what the text says.
 */

import { stripVTControlCharacters } from 'node:util';

/** Control and direction characters would act on the terminal instead of being shown. */
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** One or more lines; colours go, every other control character but the line break is replaced. */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.replace(/\t/g, '  ').replace(UNPRINTABLE, '\ufffd'))
    .join('\n');
}

/** The first line, cut to `width` characters; what is cut ends in "~". */
export function cut(text: string, width: number): string {
  const line = printable(text.split('\n', 1)[0] ?? '');
  const points = [...line];
  if (points.length <= width) return line;
  return width < 1 ? '' : `${points.slice(0, width - 1).join('')}~`;
}

/** Cut or filled with spaces to exactly `width` characters. */
export function padded(text: string, width: number, side: 'left' | 'right'): string {
  const line = cut(text, width);
  const gap = ' '.repeat(Math.max(0, width - [...line].length));
  return side === 'left' ? `${line}${gap}` : `${gap}${line}`;
}

/** One column of a table for a terminal. */
export interface Column {
  readonly title: string;
  readonly side?: 'left' | 'right';
  /** Longest width in characters; default no bound. */
  readonly widthMax?: number;
}

/** Rows under titles, two spaces between columns, no blank space at the end of a line. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map((column, at) => {
    const cells = rows.map((row) => [...printable(row[at] ?? '')].length);
    return Math.min(Math.max(column.title.length, ...cells), column.widthMax ?? Infinity);
  });
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, at) => padded(cells[at] ?? '', widths[at] ?? 0, column.side ?? 'left'))
      .join('  ')
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...rows.map(line)];
}
