/**
 * The figures at the top of a report as markup.
 * Pure; every text of it is escaped here.
 */
import { escapeText } from '../page/page.ts';
import type { ReportData } from '../report-data.ts';
import { reportTiles, type Tile } from '../report-tiles.ts';

const FOOTNOTE = ' <a href="#sum" aria-label="Footnote 1: to the nano-dollar"><sup>1</sup></a>';

export function tilesMarkup(data: ReportData): string {
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
