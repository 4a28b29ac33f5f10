/**
 * The figures at the top of a report: how many succeeded, what it cost, how long it took, each against the last run.
 * Pure; owns how a difference is said; must not lay anything out.
 */
import { unsuccessfulOf } from '../core/machine/projection.ts';
import { countEnded } from '../core/run/run-words.ts';
import type { LastRun, ReportData } from './report-data.ts';
import { duration, grouped, usdWords } from './report-words.ts';

/** One large figure at the top of a page. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly tone: 'better' | 'worse' | 'same';
  /** True: the value is rounded, and the footnote has it to the nano-dollar. */
  readonly hasFootnote?: boolean;
}

const FIRST = 'first run of this job';

/** What came of the run, in four figures. */
export function reportTiles(data: ReportData): readonly Tile[] {
  return [succeededTile(data), costTile(data), timeTile(data), callsTile(data)];
}

/** Of a run that goes on, nothing is said against one that has ended. */
function comparable({ run, last }: ReportData): LastRun | string {
  return countEnded(run) < run.total ? 'the run goes on' : (last ?? FIRST);
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
  const value = usdWords(nanoUsd);
  const last = comparable(data);
  const beside = unpriced === 0 ? '' : `; ${unpriced} unpriced`;
  const named = { name: 'Cost', value, hasFootnote: true };
  if (typeof last === 'string') return { ...named, note: `${last}${beside}`, tone: 'same' };
  const more = nanoUsd - last.spentNanoUsd;
  const words =
    more === 0
      ? 'as much as the last run'
      : `${usdWords(Math.abs(more))} ${more > 0 ? 'more' : 'less'}${share(more, last.spentNanoUsd)} than the last run`;
  return { ...named, note: `${words}${beside}`, tone: toneOf(more) };
}

function timeTile(data: ReportData): Tile {
  const { run, writtenAt } = data;
  const took = (run.endedAt ?? writtenAt) - run.createdAt;
  const value = duration(took);
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
