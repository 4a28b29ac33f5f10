/**
 * A report as Markdown.
 * Pure; owns the escaping: nothing that a job, an agent or a gateway wrote becomes markup.
 */
import type { Block, Cell, Column, ReportDocument, Section } from './document.ts';
import { oneLine, plainLine } from './plain-text.ts';

/** For reading as it is, and for code hosts. */
export function renderMarkdown({ title, sections }: ReportDocument): string {
  const parts = [`# ${escape(title)}`, ...sections.map(section)];
  return `${parts.join('\n\n')}\n`;
}

function section({ title, blocks }: Section): string {
  const heading = title === null ? [] : [`## ${escape(title)}`];
  return [...heading, ...blocks.map(block)].join('\n\n');
}

function block(one: Block): string {
  switch (one.kind) {
    case 'text':
      return one.tone === 'plain' ? escape(one.text) : `**${escape(one.text)}**`;
    case 'list':
      return one.entries.map((entry) => `- ${escape(entry)}`).join('\n');
    case 'output':
      return fenced(one.lines.map(plainLine)).join('\n');
    case 'table':
      return [line(one.columns.map(({ title }) => title)), rule(one.columns), ...one.rows.map(line)].join(
        '\n',
      );
  }
}

/** Plain lines between fences that are longer than any in them: inside nothing is markup. */
export function fenced(lines: readonly string[]): readonly string[] {
  const fences = lines.flatMap((text) => [...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(2, ...fences) + 1);
  return [`${fence}text`, ...lines, fence];
}

function line(cells: readonly Cell[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

function rule(columns: readonly Column[]): string {
  return `| ${columns.map(({ side }) => (side === 'right' ? '---:' : '---')).join(' | ')} |`;
}

function cell(content: Cell): string {
  if (typeof content === 'string') return escape(content);
  return content.map(({ text, href }) => `[${escape(text)}](${href})`).join(', ');
}

/** An underscore inside a word is none of Markdown's business, and names read better with it bare. */
function escape(text: string): string {
  return oneLine(text)
    .replaceAll(/[\\`*[\]|~]/g, '\\$&')
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
