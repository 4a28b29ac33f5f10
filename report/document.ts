/**
 * A report as a document, before it is Markdown or HTML.
 * Owns the few kinds of blocks; texts in it are plain, and the renderers escape them.
 */
import { counted } from '../core/text/counted.ts';

interface Link {
  readonly text: string;
  readonly href: string;
}

/** Plain text, or links side by side. */
export type Cell = string | readonly Link[];

/** One column of a table. */
export interface Column {
  readonly title: string;
  readonly side: 'left' | 'right';
}

/** A piece of a section. */
export type Block =
  | { readonly kind: 'text'; readonly text: string; readonly tone: Tone }
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | { readonly kind: 'list'; readonly entries: readonly string[] }
  /** Lines as a program printed them. */
  | { readonly kind: 'output'; readonly lines: readonly string[] };

/** The meaning of a line, for outputs that have colours; the words say it as well. */
export type Tone = 'plain' | 'good' | 'bad';

/** A part of a report under its own title. */
export interface Section {
  /** Null for the part right under the title. */
  readonly title: string | null;
  readonly blocks: readonly Block[];
}

export interface ReportDocument {
  readonly title: string;
  readonly sections: readonly Section[];
}

/** A column whose text begins at its left. */
export const left = (title: string): Column => ({ title, side: 'left' });

/** A column of numbers. */
export const right = (title: string): Column => ({ title, side: 'right' });

export function text(words: string, tone: Tone = 'plain'): Block {
  return { kind: 'text', text: words, tone };
}

/** A heading row and rows below it; nothing at all when there are no rows. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): readonly Block[] {
  return rows.length === 0 ? [] : [{ kind: 'table', columns, rows }];
}

/** Holds every entry. */
const JSONL_REPORT = 'a .jsonl report';

interface Bound {
  readonly shownMax: number;
  /** What one entry is. */
  readonly what: string;
}

/** A table of the first entries only; the rest is counted. */
export function boundedTable<Entry>(
  columns: readonly Column[],
  { entries, cells }: { readonly entries: readonly Entry[]; cells(entry: Entry): readonly Cell[] },
  { shownMax, what }: Bound,
): readonly Block[] {
  const rest = entries.length - shownMax;
  const more = rest > 0 ? [text(`And ${counted(rest, what)} more: ${JSONL_REPORT} holds all.`)] : [];
  return [...table(columns, entries.slice(0, shownMax).map(cells)), ...more];
}

/** At most `shownMax` entries in words; the rest is counted, and `where` says where to find it. */
export function boundedList<Entry>(
  entries: readonly Entry[],
  words: (entry: Entry) => string,
  { shownMax, where = JSONL_REPORT }: { readonly shownMax: number; readonly where?: string },
): readonly Block[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, shownMax).map(words);
  const rest = entries.length - shown.length;
  return [{ kind: 'list', entries: rest === 0 ? shown : [...shown, `and ${rest} more, in ${where}`] }];
}
