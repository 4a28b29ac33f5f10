/**
 * The report of a run as one page that needs nothing else: no font, no image, no request, and one small script.
 * Pure; owns the order: sums, what failed, the conversations, charts, the rest, and the footnote of the money.
 */
import { agentSection } from '../agent-section.ts';
import { deliverySection, lastStepSection } from '../after-sections.ts';
import type { Section } from '../document.ts';
import { drawFigure, FIGURE_STYLE } from '../figures/draw-figure.ts';
import { reportFigures } from '../figures/report-figures.ts';
import { moneySection, reconciliationSection } from '../money-section.ts';
import { escapeText, renderPage } from '../page/page.ts';
import type { ReportData } from '../report-data.ts';
import { moneyVerdict, workVerdict, type Verdict } from '../report-verdict.ts';
import { scoreSection } from '../score-section.ts';
import { sumSection } from '../sum-section.ts';
import { wholeSection } from '../whole-section.ts';
import { factSection } from '../work-sections.ts';
import { failureMarkup } from './failure-cards.ts';
import { itemTable, rowIds } from './item-rows.ts';
import { ITEM_SCRIPT } from './item-script.ts';
import { REPORT_STYLE } from './report-style.ts';
import { sectionMarkup } from './section-markup.ts';
import { tilesMarkup } from './tiles.ts';

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
      ...restOf(data).map((section) => sectionMarkup(section)),
      '<footer>',
      sectionMarkup(sumSection(data), 'sum'),
      '</footer>',
      '</main>',
    ],
  });
}

function head(data: ReportData): string {
  const { run, description } = data;
  const verdicts = [workVerdict(data), moneyVerdict(data)].filter((one) => one !== null);
  return [
    '<header class="head">',
    `<h1>${escapeText(run.name)}</h1>`,
    `<p class="quiet">Run <code>${escapeText(run.runId)}</code></p>`,
    ...(description === null ? [] : [`<p>${escapeText(description)}</p>`]),
    ...verdicts.map(notice),
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

function restOf(data: ReportData): readonly Section[] {
  const sections = [
    wholeSection(data),
    agentSection(data),
    scoreSection(data),
    deliverySection(data),
    moneySection(data),
    reconciliationSection(data),
    lastStepSection(data),
    factSection(data),
  ];
  return sections.filter((section) => section !== null && section.blocks.length > 0) as readonly Section[];
}
