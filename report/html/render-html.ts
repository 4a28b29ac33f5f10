/**
 * The report of a run as one page that needs nothing else: no font, no image, no request, and one small script.
 * Pure; owns the order: sums, what failed, the conversations, charts, the rest, and the footnote of the money.
 */
import { drawFigure, FIGURE_STYLE } from '../figures/draw-figure.ts';
import { reportFigures } from '../figures/report-figures.ts';
import { escapeText, renderPage } from '../page/page.ts';
import type { ReportData } from '../report-data.ts';
import { reportTiles, type Tile } from '../report-tiles.ts';
import { reportVerdicts, type Verdict } from '../report-verdict.ts';
import { otherSections } from '../report-document.ts';
import { sumSection } from '../sum-section.ts';
import { failureMarkup } from './failure-cards.ts';
import { itemTable, rowIds } from './item-rows.ts';
import { ITEM_SCRIPT } from './item-script.ts';
import { REPORT_STYLE } from './report-style.ts';
import { sectionMarkup } from './section-markup.ts';

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
