/**
 * A report as one HTML file that needs nothing else: no script, no font, no image, no request.
 * Pure; owns the layout and the few styles, for light and dark.
 */
import { escapeMarkup } from '../core/text/escape-markup.ts';
import type { Block, Cell, Column, ReportDocument, Section } from './document.ts';
import { drawFigure, FIGURE_STYLE } from './figures/draw-figure.ts';
import { oneLine, plainLine } from './plain-text.ts';

/** The browser itself refuses whatever slipped through: styles of this file, and nothing else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d4d7dc, #3b4048); --good: light-dark(#17643a, #7bd3a1); --bad: light-dark(#a1260d, #ff9d8a); --quiet: light-dark(#f3f4f6, #22262b); --busy: light-dark(#0b62c4, #6cb0ff); --rest: light-dark(#b8bec7, #6b7380); }
body { margin: 2rem auto; padding: 0 1rem; max-width: 90rem; font: 15px/1.5 system-ui, sans-serif; color: light-dark(#1c1f23, #e4e7eb); background: light-dark(#ffffff, #16191d); }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.75rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { background: var(--quiet); font-weight: 600; }
.right { text-align: right; }
a { color: light-dark(#0b57d0, #8ab4f8); }
li { overflow-wrap: anywhere; }
`;

export function renderHtml({ title, sections, figures }: ReportDocument): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escape(title)}</title>`,
    `<style>${STYLE}${FIGURE_STYLE}</style>`,
    '</head>',
    '<body>',
    `<h1>${escape(title)}</h1>`,
    ...sections.slice(0, 1).map(section),
    ...(figures.length === 0 ? [] : ['<section>', ...figures.map(drawFigure), '</section>']),
    ...sections.slice(1).map(section),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function section({ title, blocks }: Section): string {
  const heading = title === null ? [] : [`<h2>${escape(title)}</h2>`];
  return ['<section>', ...heading, ...blocks.map(block), '</section>'].join('\n');
}

function block(one: Block): string {
  switch (one.kind) {
    case 'text':
      return one.tone === 'plain'
        ? `<p>${escape(one.text)}</p>`
        : `<p class="${one.tone}">${escape(one.text)}</p>`;
    case 'list':
      return ['<ul>', ...one.entries.map((entry) => `<li>${escape(entry)}</li>`), '</ul>'].join('\n');
    case 'output':
      return `<pre>${one.lines.map((line) => escapeMarkup(plainLine(line))).join('\n')}</pre>`;
    case 'table':
      return table(one.columns, one.rows);
  }
}

function table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const heads = columns.map(({ title, side }) => `<th scope="col"${aligned(side)}>${escape(title)}</th>`);
  const body = rows.map((cells) => {
    const data = cells.map(
      (cell, index) => `<td${aligned(columns[index]?.side ?? 'left')}>${content(cell)}</td>`,
    );
    return `<tr>${data.join('')}</tr>`;
  });
  return [
    '<div class="wide">',
    '<table>',
    `<thead><tr>${heads.join('')}</tr></thead>`,
    '<tbody>',
    ...body,
    '</tbody>',
    '</table>',
    '</div>',
  ].join('\n');
}

function aligned(side: Column['side']): string {
  return side === 'right' ? ' class="right"' : '';
}

function content(cell: Cell): string {
  if (typeof cell === 'string') return escape(cell);
  return cell.map(({ text, href }) => `<a href="${escape(href)}">${escape(text)}</a>`).join(', ');
}

function escape(text: string): string {
  return escapeMarkup(oneLine(text));
}
