/**
 * A plain table of a page: a heading row, and rows of text or links.
 * Pure; every text of it is escaped here.
 */
import type { Cell, Column } from '../document.ts';
import { escapeText } from './page.ts';

/** Scrolls by itself where it is wider than the page. */
export function tableMarkup(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const heads = columns.map(({ title, side }) => `<th scope="col"${aligned(side)}>${escapeText(title)}</th>`);
  const body = rows.map((cells) => {
    const data = cells.map(
      (cell, index) => `<td${aligned(columns[index]?.side ?? 'left')}>${content(cell)}</td>`,
    );
    return `<tr>${data.join('')}</tr>`;
  });
  return [
    '<div class="wide card" tabindex="0">',
    '<table class="plain">',
    `<thead><tr>${heads.join('')}</tr></thead>`,
    '<tbody>',
    ...body,
    '</tbody>',
    '</table>',
    '</div>',
  ].join('\n');
}

function aligned(side: Column['side']): string {
  return side === 'right' ? ' class="number"' : '';
}

function content(cell: Cell): string {
  if (typeof cell === 'string') return escapeText(cell);
  return cell.map(({ text, href }) => `<a href="${escapeText(href)}">${escapeText(text)}</a>`).join(', ');
}
