/**
 * The table of conversations: a row each, which opens to prompt, answer, changes and check.
 * Pure; owns the columns and how many rows there are. What a row opens to is item-work.ts.
 */
import type { RunItemRow } from '../../core/machine/projection.ts';
import { outcomeLabel } from '../../core/run/outcome-words.ts';
import { counted } from '../../core/text/counted.ts';
import { hasFailed } from '../failure.ts';
import { escapeText } from '../page/page.ts';
import type { ReportData, ReportItem } from '../report-data.ts';
import { duration, grouped, spentWords } from '../report-words.ts';
import { billedByKey, billedWords, workMs, type Billed } from '../work-sections.ts';
import { itemWork } from './item-work.ts';

/** No browser opens a page of more rows quickly; `.jsonl` reports hold every item. */
const ROWS_MAX = 10_000;
/** The script lays out more when the reader clicks "Show all"; without the script all are there from the beginning. */
const ROWS_AT_FIRST = 1_000;
/** On paper every row of a short table is open; of a longer one those that the reader opened. */
const OPEN_ON_PAPER_MAX = 60;

const TITLES = ['#', 'conversation', 'outcome', 'attempts', 'time', 'calls', 'tokens', 'cost'] as const;
/** From this column on they are numbers, on the right. */
const NUMBERS_FROM = 3;

/** Where a row is in the page, by key; null for one that has none. */
export function rowIds({ items }: ReportData): (key: string) => string | null {
  const ids = new Map(items.slice(0, ROWS_MAX).map(({ key }, index) => [key, `c${index + 1}`]));
  return (key) => ids.get(key) ?? null;
}

export function itemTable(data: ReportData): string {
  const billed = billedByKey(data);
  const titles = billed === null ? TITLES : [...TITLES, 'billed'];
  const shown = data.items.slice(0, ROWS_MAX);
  const rest = data.items.length - shown.length;
  const heads = titles.map((title, at) => `<th scope="col"${classOf(at)}>${title}</th>`);
  const paper = shown.length <= OPEN_ON_PAPER_MAX ? ' paper' : '';
  return [
    '<section>',
    `<h2>Conversations <span class="tag">${data.items.length}</span></h2>`,
    '<p class="filter" hidden><label for="items-filter">Filter</label><input id="items-filter" type="search" autocomplete="off"><span id="items-count" class="quiet" role="status"></span><button id="items-all" class="button" type="button" hidden>Show all</button></p>',
    '<div class="wide card" tabindex="0">',
    `<table id="items" class="items${paper}">`,
    `<thead><tr>${heads.join('')}</tr></thead>`,
    ...shown.map((item, index) => itemBody(item, { consoleUrl: data.consoleUrl, index, billed })),
    '</table>',
    '</div>',
    ...(rest === 0
      ? []
      : [`<p class="quiet">And ${counted(rest, 'conversation')} more: a .jsonl report holds all.</p>`]),
    '</section>',
  ].join('\n');
}

interface Placed {
  readonly consoleUrl: string | null;
  readonly index: number;
  readonly billed: Billed | null;
}

function itemBody(item: ReportItem, { consoleUrl, index, billed }: Placed): string {
  const { key, row, spend } = item;
  const tokens = spend.promptTokens + spend.completionTokens;
  const took = workMs(row);
  const cells = [
    `<td class="at">${index + 1}</td>`,
    `<th scope="row" class="name"><details><summary>${escapeText(key)}</summary></details></th>`,
    `<td>${badge(row)}</td>`,
    number(row?.attempt ?? 0, String(row?.attempt ?? 0)),
    number(took ?? -1, duration(took)),
    number(spend.calls, grouped(String(spend.calls))),
    number(tokens, grouped(String(tokens))),
    number(spend.nanoUsd, spentWords(spend)),
    ...(billed === null ? [] : [number(billedNano(billed, key), billedWords(billed, key))]),
  ];
  const columns = TITLES.length + (billed === null ? 0 : 1);
  return [
    `<tbody id="c${index + 1}"${index < ROWS_AT_FIRST ? '' : ' class="later"'}><tr class="row">${cells.join('')}</tr>`,
    `<tr class="opened"><td colspan="${columns}">${itemWork(item, consoleUrl)}</td></tr></tbody>`,
  ].join('');
}

function billedNano(billed: Billed, key: string): number {
  const { assigned = 0, estimated = 0 } = billed.get(key) ?? {};
  return Number(assigned) + Number(estimated);
}

function classOf(at: number): string {
  if (at >= NUMBERS_FROM) return ' class="number"';
  return at === 0 ? ' class="at"' : '';
}

/** The value for sorting, beside the shown words. */
function number(value: number, words: string): string {
  return `<td class="number" data-v="${value}">${escapeText(words)}</td>`;
}

function badge(row: RunItemRow | null): string {
  return `<span class="badge badge-${toneOf(row)}"><span class="badge-dot"></span>${outcomeLabel(row)}</span>`;
}

function toneOf(row: RunItemRow | null): 'good' | 'bad' | 'busy' | 'wait' | 'calm' {
  if (row === null || row.phase === 'waiting') return 'calm';
  if (row.phase !== 'ended') return 'busy';
  if (row.outcome === 'limit_reached') return 'wait';
  if (hasFailed({ row })) return row.outcome === 'cancelled' ? 'calm' : 'bad';
  return row.outcome === 'succeeded' ? 'good' : 'calm';
}
