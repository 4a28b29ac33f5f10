/**
 * A page that needs nothing else: one file with its style, at most one script, and a policy that allows only those.
 * Pure; owns the frame and the policy, for reports of runs and pages of the simulator; must not know what is in a page.
 */
import { createHash } from 'node:crypto';
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import type { Cell, Column } from '../document.ts';
import { oneLine } from '../plain-text.ts';
import { SHARED_STYLE } from './shared-style.ts';

interface PageParts {
  readonly title: string;
  /** Beside what all pages have. */
  readonly style: string;
  /** Null for a page on which nothing runs. Constant text: what comes from outside is never in it. */
  readonly script: string | null;
  /** Markup, every text in it escaped. */
  readonly body: readonly string[];
}

/** One HTML file with all that it needs, and a policy that lets nothing else in. */
export function renderPage({ title, style, script, body }: PageParts): string {
  const whole = `${SHARED_STYLE}${PAGE_STYLE}${style}`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy(whole, script)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escapeText(title)}</title>`,
    `<style>${whole}</style>`,
    '</head>',
    '<body>',
    ...body,
    ...(script === null ? [] : [`<script>${script}</script>`]),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** The browser itself refuses whatever slipped through: this style and this script by their hashes, and nothing else. */
function policy(style: string, script: string | null): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src ${script === null ? "'none'" : `'${hashOf(script)}'`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** For text and for attributes in quotes: on one line, and nothing of it is markup. */
export function escapeText(text: string): string {
  return escapeMarkup(oneLine(text));
}

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

/**
 * What pages of their own have beside the console's style: their width, plain tables, figures, and paper.
 * Owns no colour: those are tokens of the console.
 */
const PAGE_STYLE = `
main{max-width:1200px;margin:0 auto;padding:28px 24px 56px;display:grid;gap:32px;grid-template-columns:minmax(0,1fr)}
main section{display:grid;gap:14px;grid-template-columns:minmax(0,1fr)}
h1{overflow-wrap:anywhere}
h3{margin:0;font-size:14px;overflow-wrap:anywhere}
p,li,dd{overflow-wrap:anywhere}
summary{margin:0}
pre{margin:0;padding:12px 14px;border-radius:8px;background:var(--raised);white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
.plain{width:auto;min-width:min(100%,340px);font-size:14px;font-variant-numeric:tabular-nums}
.plain th,.plain td{padding:7px 14px;vertical-align:top}
.wide{overflow-x:auto}
.wide.card{padding:6px 0;max-width:100%}
.wide.card:has(>.plain){justify-self:start}
.list{display:grid;gap:4px;padding-left:18px;list-style:disc}
.columns{columns:2 440px;column-gap:14px}
.columns figure{margin-bottom:14px;break-inside:avoid}
figure{margin:0;padding:18px 20px;min-width:0}
figcaption{margin-bottom:12px;font-weight:600;overflow-wrap:anywhere}
figcaption small{display:block;color:var(--quiet);font-size:13px;font-weight:400}
figure svg{display:block;width:100%;height:auto;font:12px var(--font)}
figure svg text{fill:currentcolor}
.grid{stroke:var(--line);stroke-width:1}
.line{fill:none;stroke-width:2}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin-bottom:10px;font-size:13px}
@media (max-width:700px){main{padding:20px 14px 40px}figure svg.drawn{min-width:480px}}
@media print{
:root,:root[data-theme]{color-scheme:light}
body,main{background:#fff}
main{max-width:none;padding:0;gap:18px;display:block}
main section,main>*{margin-bottom:14px}
.card{box-shadow:none;background:#fff}
.wide,.scroll{overflow:visible;max-height:none}
figure,.sum{break-inside:avoid}
h2,h3,figcaption{break-after:avoid}
tr{break-inside:avoid}
thead{display:table-header-group}
a{color:inherit}
figure svg,.badge,.sum,.tag,pre,.diff-added,.diff-removed{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
@page{margin:14mm 12mm}
`;
