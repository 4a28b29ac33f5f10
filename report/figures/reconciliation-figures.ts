/**
 * What a reconciliation found, as figures: billed beside recorded, what found no match in either direction, and how far
 * the clocks of exact pairs differ (D27).
 * Pure; owns the choice of figures and their numbers; must not draw.
 */
import type { ReconciliationDone } from '../../core/reconcile/reconciliation-record.ts';
import type { ReportData, ReportItem } from '../report-data.ts';
import { usdWords } from '../report-words.ts';
import { billedByKey } from '../work-sections.ts';
import { bars, type Bars, type FigureTone } from './figure-drawing.ts';

/** Names with two bars each; more are a table. */
const NAMES_MAX = 6;
/** Spans of the clock's difference: few enough to read, many enough to show two clusters. */
const SPANS = 8;

/** The items of a job in groups, such as its models or the values of a tag. */
export interface Grouping {
  /** `model`, `tag-team`: the end of the id of a figure. */
  readonly id: string;
  /** `model`, `tag "team"`: the end of its title. */
  readonly title: string;
  of(item: ReportItem): string | null;
}

/** None without a reconciliation. */
export function reconciliationFigures(
  data: ReportData,
  groupings: readonly Grouping[],
): readonly (Bars | null)[] {
  const { reconciliation } = data;
  if (reconciliation?.kind !== 'done') return [];
  return [
    ...groupings.map((grouping) => billedAndRecorded(data, grouping)),
    unmatched(reconciliation),
    clockDifferences(data.exactSkewsMs),
  ];
}

/** Two bars for each name, the largest first. Amounts that an estimate splits count as billed. */
function billedAndRecorded(data: ReportData, { id, title, of }: Grouping): Bars | null {
  const billedOf = billedByKey(data);
  const sums = new Map<string, { billed: number; recorded: number }>();
  for (const item of data.items) {
    const name = of(item);
    if (name === null) continue;
    const { assigned = 0, estimated = 0 } = billedOf?.get(item.key) ?? {};
    const known = sums.get(name) ?? { billed: 0, recorded: 0 };
    sums.set(name, {
      billed: known.billed + Number(assigned) + Number(estimated),
      recorded: known.recorded + item.spend.nanoUsd,
    });
  }
  const largest = [...sums]
    .filter(([, { billed, recorded }]) => billed + recorded > 0)
    .sort(([, a], [, b]) => Math.max(b.billed, b.recorded) - Math.max(a.billed, a.recorded))
    .slice(0, NAMES_MAX);
  const rows = largest.flatMap(([name, { billed, recorded }]) => [
    { label: `${name}: billed`, value: billed, words: usdWords(billed), tone: 'busy' as const },
    { label: `${name}: recorded`, value: recorded, words: usdWords(recorded), tone: 'good' as const },
  ]);
  const about = 'What rows bill to these conversations and what our proxy counted.';
  return bars({ id: `billed-by-${id}`, title: `Billed and recorded by ${title}`, about }, rows);
}

/** All counts, also those of 0: readers want to see that there are none. */
function unmatched({ result: { counts } }: ReconciliationDone): Bars | null {
  const found: readonly (readonly [string, number, FigureTone])[] = [
    ['rows that several could have caused', counts.ambiguous, 'rest'],
    ['rows without a conversation', counts.unassigned, 'bad'],
    ['rows that bill a response again', counts.duplicates, 'bad'],
    ['conversations without rows', counts.conversationsWithoutRows, 'bad'],
    ['calls that nobody billed', counts.unbilled, 'bad'],
  ];
  return bars(
    {
      id: 'unmatched',
      title: 'Without a match, in both directions',
      about: `Rows of the export that found no one conversation, and work of ours that found no row; of ${counts.rows} rows.`,
    },
    found.map(([label, value, tone]) => ({ label, value, words: String(value), tone })),
  );
}

/** How many exact pairs lie in each span between the smallest and the largest difference. */
function clockDifferences(skewsMs: readonly number[]): Bars | null {
  if (skewsMs.length === 0) return null;
  let [least, most] = [Infinity, -Infinity];
  for (const skew of skewsMs) {
    least = Math.min(least, skew);
    most = Math.max(most, skew);
  }
  const width = Math.max(1, Math.ceil((most - least + 1) / SPANS));
  const counts = new Array<number>(Math.floor((most - least) / width) + 1).fill(0);
  for (const skew of skewsMs) {
    const span = Math.floor((skew - least) / width);
    counts[span] = (counts[span] ?? 0) + 1;
  }
  return bars(
    {
      id: 'clock-difference',
      title: "The gateway's clock less ours",
      about: `Of ${skewsMs.length} rows that were joined by response id: begin of the row less begin of our call.`,
    },
    counts.map((count, span) => {
      const from = least + span * width;
      const label = width === 1 ? `${from} ms` : `${from} to ${from + width - 1} ms`;
      return { label, value: count, words: String(count), tone: 'busy' };
    }),
  );
}
