/**
 * Text and numbers on their way into a page.
 * Owns the escaping and the forms; every text of a job goes through here.
 */
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import { formatDuration } from '../../dsl/duration.ts';

/** Control characters have no place in a page; direction marks could make a text read as another. */
const UNPRINTABLE = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** For text and for attributes in quotes. */
export function escapeText(text: string): string {
  return escapeMarkup(text.replace(UNPRINTABLE, '\ufffd'));
}

/** Since the beginning, as in `1h30m`; a dash for what has not come. */
export function sinceText(ms: number | null): string {
  return ms === null ? '-' : formatDuration(ms);
}

/** A coordinate with what can be seen of it. */
export function coordinate(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export interface TableColumn {
  readonly title: string;
  readonly side?: 'right';
}

/** Cells are texts, escaped here. */
export function tableMarkup(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string {
  const side = (at: number): string => (columns[at]?.side === 'right' ? ' class="right"' : '');
  const heads = columns.map(({ title }, at) => `<th scope="col"${side(at)}>${escapeText(title)}</th>`);
  const body = rows.map(
    (cells) => `<tr>${cells.map((cell, at) => `<td${side(at)}>${escapeText(cell)}</td>`).join('')}</tr>`,
  );
  return [
    '<div class="wide" tabindex="0"><table>',
    `<thead><tr>${heads.join('')}</tr></thead>`,
    '<tbody>',
    ...body,
    '</tbody></table></div>',
  ].join('\n');
}
