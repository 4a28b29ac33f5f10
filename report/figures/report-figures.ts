/**
 * What a report shows as figures: the run over time, its spend, slow and expensive conversations, and failures.
 * Pure; owns the choice of figures and their numbers; must not draw.
 */
import type { ReportData, ReportItem } from '../report-data.ts';
import { duration, usdWords } from '../report-words.ts';
import { workMs } from '../work-sections.ts';
import { bars, type Bars, type Figure, type FigureTone, type Levels } from './figure-drawing.ts';
import { reconciliationFigures, type Grouping } from './reconciliation-figures.ts';

/** For more rows a table is better, and the report has one. */
const ROWS_MAX = 10;
/** Tags whose spend is shown; a job with more tags has them in its `.jsonl` report. */
const TAGS_MAX = 3;
/** Points of a curve: as many as a reader can distinguish. */
const POINTS = 120;

/** Only those that have something to show. */
export function reportFigures(data: ReportData): readonly Figure[] {
  const groupings: readonly Grouping[] = [
    { id: 'model', title: 'model', of: ({ model }) => model },
    ...tagsOf(data).map((tag): Grouping => ({
      id: `tag-${tag}`,
      title: `tag "${tag}"`,
      of: ({ tags }) => tags[tag] ?? null,
    })),
  ];
  const figures: readonly (Figure | null)[] = [
    statusOverTime(data),
    capacityOverTime(data),
    outcomes(data),
    ...groupings.map((grouping) => spendBy(data, grouping)),
    slowest(data),
    dearest(data),
    ...reconciliationFigures(data, groupings),
  ];
  return figures.filter((figure) => figure !== null);
}

interface Span {
  readonly from: number;
  readonly until: number;
}

function spanOf({ run, writtenAt }: ReportData): Span | null {
  const until = run.endedAt ?? writtenAt;
  return until > run.createdAt ? { from: run.createdAt, until } : null;
}

function instants({ from, until }: Span): readonly number[] {
  return Array.from({ length: POINTS + 1 }, (_, index) => from + ((until - from) * index) / POINTS);
}

const hasBegun = ({ row }: ReportItem, at: number): boolean =>
  row?.admittedAt != null && row.admittedAt <= at;
const hasEnded = ({ row }: ReportItem, at: number): boolean => row?.endedAt != null && row.endedAt <= at;

function statusOverTime(data: ReportData): Levels | null {
  const span = spanOf(data);
  if (span === null || data.items.length === 0) return null;
  const at = instants(span);
  const count = (test: (item: ReportItem, at: number) => boolean): readonly number[] =>
    at.map((instant) => data.items.filter((item) => test(item, instant)).length);
  const isGood = ({ row }: ReportItem): boolean => row?.outcome === 'succeeded';
  return {
    kind: 'levels',
    id: 'status',
    title: 'Conversations over time',
    about:
      'How many had succeeded, had ended otherwise, were in flight and waited; by the last attempt of each.',
    lengthMs: span.until - span.from,
    form: 'stacked',
    series: [
      { name: 'succeeded', tone: 'good', values: count((item, now) => hasEnded(item, now) && isGood(item)) },
      {
        name: 'ended otherwise',
        tone: 'bad',
        values: count((item, now) => hasEnded(item, now) && !isGood(item)),
      },
      {
        name: 'in flight',
        tone: 'busy',
        values: count((item, now) => hasBegun(item, now) && !hasEnded(item, now)),
      },
      {
        name: 'waiting',
        tone: 'rest',
        values: count((item, now) => !hasBegun(item, now) && !hasEnded(item, now)),
      },
    ],
  };
}

function capacityOverTime(data: ReportData): Levels | null {
  const span = spanOf(data);
  if (span === null) return null;
  const inFlight = (at: number): readonly ReportItem[] =>
    data.items.filter((item) => hasBegun(item, at) && !hasEnded(item, at));
  const sandboxes = (items: readonly ReportItem[]): number =>
    new Set(items.flatMap(({ row }) => row?.sandboxId ?? [])).size;
  const at = instants(span);
  const conversations = at.map((instant) => inFlight(instant).length);
  if (Math.max(...conversations) === 0) return null;
  return {
    kind: 'levels',
    id: 'capacity',
    title: 'Capacity used',
    about: 'Conversations in flight, and the sandboxes they were in; by the last attempt of each.',
    lengthMs: span.until - span.from,
    form: 'lines',
    series: [
      { name: 'conversations', tone: 'busy', values: conversations },
      { name: 'sandboxes', tone: 'good', values: at.map((instant) => sandboxes(inFlight(instant))) },
    ],
  };
}

/** By failure class where there is one: what a team acts on. */
function outcomes({ items }: ReportData): Bars | null {
  const counts = new Map<string, { count: number; tone: FigureTone }>();
  for (const { row } of items) {
    const words = outcomeWords(row);
    const known = counts.get(words) ?? { count: 0, tone: toneOf(row) };
    counts.set(words, { ...known, count: known.count + 1 });
  }
  const rows = [...counts].sort(([, a], [, b]) => b.count - a.count);
  const about = 'How many conversations ended in which way.';
  return bars(
    { id: 'outcomes', title: 'Outcomes and failure classes', about },
    rows.map(([label, { count, tone }]) => ({ label, value: count, words: String(count), tone })),
  );
}

function outcomeWords(row: ReportItem['row']): string {
  if (row?.phase !== 'ended') return 'not ended';
  const outcome = row.outcome ?? 'ended';
  return row.failureClass === null || row.failureClass === outcome
    ? outcome
    : `${outcome}: ${row.failureClass}`;
}

function toneOf(row: ReportItem['row']): FigureTone {
  if (row?.phase !== 'ended' || row.outcome === 'skipped' || row.outcome === 'not_needed') return 'rest';
  return row.outcome === 'succeeded' ? 'good' : 'bad';
}

function tagsOf({ items }: ReportData): readonly string[] {
  const names = new Set(items.flatMap(({ tags }) => Object.keys(tags)));
  return [...names].sort().slice(0, TAGS_MAX);
}

/** What our proxy counted; unpriced calls are in no amount (D26). */
function spendBy({ items }: ReportData, { id, title, of }: Grouping): Bars | null {
  const spent = new Map<string, number>();
  for (const item of items) {
    const name = of(item);
    if (name !== null) spent.set(name, (spent.get(name) ?? 0) + item.spend.nanoUsd);
  }
  const about = 'What our proxy counted; calls without a price are left out.';
  return amountBars({ id: `spend-by-${id}`, title: `Spend by ${title}`, about }, [...spent]);
}

function dearest({ items }: ReportData): Bars | null {
  return amountBars(
    { id: 'dearest', title: 'Dearest conversations', about: 'All attempts together.' },
    items.map(({ key, spend }) => [key, spend.nanoUsd] as const),
  );
}

function slowest({ items }: ReportData): Bars | null {
  const times = items.flatMap(({ key, row }) => {
    const ms = workMs(row);
    return ms === null ? [] : [[key, ms] as const];
  });
  return bars(
    { id: 'slowest', title: 'Slowest conversations', about: 'From the last admission to the end.' },
    largest(times).map(([label, value]) => ({ label, value, words: duration(value), tone: 'busy' })),
  );
}

type Named = Parameters<typeof bars>[0];

function amountBars(named: Named, amounts: readonly (readonly [string, number])[]): Bars | null {
  return bars(
    named,
    largest(amounts).map(([label, value]) => ({ label, value, words: usdWords(value), tone: 'busy' })),
  );
}

function largest(values: readonly (readonly [string, number])[]): readonly (readonly [string, number])[] {
  return values
    .filter(([, value]) => value > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, ROWS_MAX);
}
