/**
 * The report of a run as one page that needs nothing else: no font, no image, no request, and one small script.
 * Pure; owns the order: sums, what failed, the conversations, charts, the rest, and the footnote of the money.
 */
import { counted } from '../../core/text/counted.ts';
import { escapeMarkup } from '../../core/text/escape-markup.ts';
import type { Block, Section } from '../document.ts';
import { FAILURES_SHOWN_MAX, failuresOf, shownReason, type FailedPart, type Failure } from '../failure.ts';
import { drawFigure, FIGURE_STYLE } from '../figures/draw-figure.ts';
import { reportFigures } from '../figures/report-figures.ts';
import { escapeText, renderPage, tableMarkup } from '../page/page.ts';
import { plainLine } from '../plain-text.ts';
import type { ReportData } from '../report-data.ts';
import { reportTiles, type Tile } from '../report-tiles.ts';
import { reportVerdicts, type Verdict } from '../report-verdict.ts';
import { otherSections } from '../report-document.ts';
import { sumSection } from '../sum-section.ts';
import { itemTable, rowIds } from './item-rows.ts';
import { ITEM_SCRIPT } from './item-script.ts';
import { REPORT_STYLE } from './report-style.ts';

const FOOTNOTE = ' <a href="#sum" aria-label="Footnote 1: to the nano-dollar"><sup>1</sup></a>';

export function renderHtml(data: ReportData): string {
  const failures = failureMarkup(data, rowIds(data));
  return renderPage({
    title: `${data.run.name}: run ${data.run.runId}`,
    style: `${FIGURE_STYLE}${REPORT_STYLE}`,
    script: ITEM_SCRIPT,
    body: [
      '<main>',
      head(data),
      tilesMarkup(data),
      ...(failures === null ? [] : [failures]),
      itemTable(data),
      ...charts(data),
      ...otherSections(data).map((section) => sectionMarkup(section)),
      '<footer>',
      sectionMarkup(sumSection(data), 'sum'),
      '</footer>',
      '</main>',
    ],
  });
}

function head(data: ReportData): string {
  const { run, description, consoleUrl } = data;
  const id = `<code>${escapeText(run.runId)}</code>`;
  const page = `${consoleUrl ?? ''}/runs/${encodeURIComponent(run.runId)}/report`;
  const named = consoleUrl === null ? id : `<a href="${escapeText(page)}">${id}</a>`;
  return [
    '<header class="head">',
    `<h1>${escapeText(run.name)}</h1>`,
    `<p class="quiet">Run ${named}</p>`,
    ...(description === null ? [] : [`<p>${escapeText(description)}</p>`]),
    ...reportVerdicts(data).map(notice),
    '</header>',
  ].join('\n');
}

function notice({ words, tone }: Verdict): string {
  const kind = tone === 'plain' ? 'calm' : tone;
  return `<p class="notice notice-${kind}">${escapeText(words)}.</p>`;
}

function charts(data: ReportData): readonly string[] {
  const figures = reportFigures(data);
  if (figures.length === 0) return [];
  return [
    '<section>',
    '<h2>Charts</h2>',
    '<div class="columns">',
    ...figures.map(drawFigure),
    '</div>',
    '</section>',
  ];
}

function tilesMarkup(data: ReportData): string {
  const { last } = data;
  const compared =
    last === null
      ? '<p class="quiet">First run of this job: there is nothing to compare it with.</p>'
      : `<p class="quiet">Compared with the last run, <code>${escapeText(last.runId)}</code>.</p>`;
  return [
    '<section aria-label="Sums">',
    '<dl class="sums">',
    ...reportTiles(data).map(tile),
    '</dl>',
    compared,
    '</section>',
  ].join('\n');
}

function tile({ name, value, note, tone, hasFootnote = false }: Tile): string {
  const mark = tone === 'same' ? '' : ` class="${tone}"`;
  const figure = `${escapeText(value)}${hasFootnote ? FOOTNOTE : ''}`;
  return `<div class="sum card"><dt>${name}</dt><dd>${figure}<small${mark}>${escapeText(note)}</small></dd></div>`;
}

const LAST_OF = {
  check: 'Last lines of the check',
  agent: 'Last words of the agent',
  sandbox: 'Last lines of the sandbox',
} as const satisfies Readonly<Record<FailedPart, string>>;

/** Null when nothing failed. `idOf` gives the row of a key, where it has one. */
function failureMarkup({ items }: ReportData, idOf: (key: string) => string | null): string | null {
  const failures = failuresOf(items);
  if (failures.length === 0) return null;
  const rest = failures.length - FAILURES_SHOWN_MAX;
  return [
    '<section id="failures">',
    `<h2>What failed <span class="tag">${failures.length}</span></h2>`,
    ...failures.slice(0, FAILURES_SHOWN_MAX).map((one) => card(one, idOf(one.key))),
    ...(rest > 0 ? [`<p class="quiet">And ${counted(rest, 'failure')} more, in the table.</p>`] : []),
    '</section>',
  ].join('\n');
}

function card({ key, outcome, reason, part, lines }: Failure, id: string | null): string {
  const name = id === null ? escapeText(key) : `<a href="#${id}">${escapeText(key)}</a>`;
  return [
    '<article class="card failure">',
    `<h3>${name}</h3>`,
    `<p class="bad">${escapeText(outcome)}</p>`,
    ...(reason === null || reason === ''
      ? []
      : [`<p class="reason">${escapeMarkup(shownReason(reason))}</p>`]),
    ...(lines.length === 0 ? [] : [`<p class="quiet">${LAST_OF[part]}</p>`, outputMarkup(lines)]),
    '</article>',
  ].join('\n');
}

/** `id` is a word of ours. */
function sectionMarkup({ title, blocks }: Section, id?: string): string {
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
function outputMarkup(lines: readonly string[]): string {
  return `<pre>${lines.map((line) => escapeMarkup(plainLine(line))).join('\n')}</pre>`;
}
