/**
 * A section of a report as markup: paragraphs, tables, lists, output.
 * Pure; every text of a block is escaped here.
 */
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import type { Block, Cell, Column, Section } from '../document.ts';
import { escapeText } from '../page/page.ts';
import { plainLine } from '../plain-text.ts';

/** `id` is a word of ours. */
export function sectionMarkup({ title, blocks }: Section, id?: string): string {
  const heading = title === null ? [] : [`<h2>${escapeText(title)}</h2>`];
  const named = id === undefined ? '' : ` id="${id}"`;
  return [`<section${named}>`, ...heading, ...blocks.map(block), '</section>'].join('\n');
}

function block(one: Block): string {
  switch (one.kind) {
    case 'text':
      return one.tone === 'plain'
        ? `<p>${escapeText(one.text)}</p>`
        : `<p class="${one.tone}">${escapeText(one.text)}</p>`;
    case 'list':
      return [
        '<ul class="list">',
        ...one.entries.map((entry) => `<li>${escapeText(entry)}</li>`),
        '</ul>',
      ].join('\n');
    case 'output':
      return outputMarkup(one.lines);
    case 'table':
      return tableMarkup(one.columns, one.rows);
  }
}

/** As a program printed it, without its colours. */
export function outputMarkup(lines: readonly string[]): string {
  return `<pre>${lines.map((line) => escapeMarkup(plainLine(line))).join('\n')}</pre>`;
}

function tableMarkup(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
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
