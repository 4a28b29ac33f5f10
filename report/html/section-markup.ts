/**
 * A section of a report as markup: paragraphs, tables, lists, output.
 * Pure; every text of a block is escaped here.
 */
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import type { Block, Section } from '../document.ts';
import { escapeText } from '../page/page.ts';
import { tableMarkup } from '../page/table-markup.ts';
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
