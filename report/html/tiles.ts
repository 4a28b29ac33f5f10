/**
 * The figures at the top of a report: how many succeeded, what it cost, how long it took, each against the last run.
 * Pure; owns how a difference is said.
 */
import { OUTCOMES } from '../../core/status.ts';
import { unsuccessfulOf } from '../../core/machine/projection.ts';
import { escapeText } from '../page/page.ts';
import type { LastRun, ReportData } from '../report-data.ts';
import { duration, grouped, usdWords } from '../report-words.ts';

interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly tone: 'better' | 'worse' | 'same';
}

const FIRST = 'first run of this job';

export function tilesMarkup(data: ReportData): string {
  const { last } = data;
  const all = [succeededTile(data), costTile(data), timeTile(data), callsTile(data)];
  const compared =
    last === null
      ? '<p class="quiet">First run of this job: there is nothing to compare it with.</p>'
      : `<p class="quiet">Compared with the last run, <code>${escapeText(last.runId)}</code>.</p>`;
  return [
    '<section aria-label="Sums">',
    '<dl class="sums">',
    ...all.map(tile),
    '</dl>',
    compared,
    '</section>',
  ].join('\n');
}

function tile({ name, value, note, tone }: Tile): string {
  const mark = tone === 'same' ? '' : ` class="${tone}"`;
  return `<div class="sum card"><dt>${name}</dt><dd>${value}<small${mark}>${escapeText(note)}</small></dd></div>`;
}

/** Of a run that goes on, nothing is said against one that has ended. */
function comparable({ run, last }: ReportData): LastRun | string {
  const ended = OUTCOMES.reduce((sum, outcome) => sum + (run.ended[outcome] ?? 0), 0);
  if (ended < run.total) return 'the run goes on';
  return last ?? FIRST;
}

function succeededTile(data: ReportData): Tile {
  const { run } = data;
  const succeeded = run.total - unsuccessfulOf(run);
  const last = comparable(data);
  const value = `${grouped(String(succeeded))} of ${grouped(String(run.total))}`;
  if (typeof last === 'string') return { name: 'Succeeded', value, note: last, tone: 'same' };
  const then = `${grouped(String(last.succeeded))} of ${grouped(String(last.total))}`;
  if (last.total !== run.total) return { name: 'Succeeded', value, note: `last run: ${then}`, tone: 'same' };
  const more = succeeded - last.succeeded;
  const words = more === 0 ? 'as many as' : more > 0 ? `${more} more than` : `${-more} fewer than`;
  const tone = more === 0 ? 'same' : more > 0 ? 'better' : 'worse';
  return { name: 'Succeeded', value, note: `${words} in the last run: ${then}`, tone };
}

function costTile(data: ReportData): Tile {
  const { nanoUsd, unpriced } = data.spend;
  const value = `${escapeText(usdWords(nanoUsd))} <a href="#sum" aria-label="Footnote 1: to the nano-dollar"><sup>1</sup></a>`;
  const last = comparable(data);
  const beside = unpriced === 0 ? '' : `; ${unpriced} unpriced`;
  if (typeof last === 'string') return { name: 'Cost', value, note: `${last}${beside}`, tone: 'same' };
  const more = nanoUsd - last.spentNanoUsd;
  const words =
    more === 0
      ? 'as much as the last run'
      : `${usdWords(Math.abs(more))} ${more > 0 ? 'more' : 'less'}${share(more, last.spentNanoUsd)} than the last run`;
  return { name: 'Cost', value, note: `${words}${beside}`, tone: toneOf(more) };
}

function timeTile(data: ReportData): Tile {
  const { run, writtenAt } = data;
  const took = (run.endedAt ?? writtenAt) - run.createdAt;
  const value = escapeText(duration(took));
  const last = comparable(data);
  if (typeof last === 'string') return { name: 'Time', value, note: last, tone: 'same' };
  const more = took - last.durationMs;
  const words =
    duration(Math.abs(more)) === duration(0)
      ? 'as long as the last run'
      : `${duration(Math.abs(more))} ${more > 0 ? 'longer' : 'shorter'}${share(more, last.durationMs)} than the last run`;
  return { name: 'Time', value, note: words, tone: toneOf(more) };
}

function callsTile({ spend }: ReportData): Tile {
  const { calls, promptTokens, completionTokens } = spend;
  const tokens = `${grouped(String(promptTokens))} tokens in, ${grouped(String(completionTokens))} out`;
  return { name: 'Model calls', value: grouped(String(calls)), note: tokens, tone: 'same' };
}

/** Of cost and time less is better. */
function toneOf(more: number): Tile['tone'] {
  return more === 0 ? 'same' : more > 0 ? 'worse' : 'better';
}

function share(more: number, of: number): string {
  return of === 0 ? '' : ` (${more > 0 ? '+' : '\u2212'}${Math.round((100 * Math.abs(more)) / of)} %)`;
}
