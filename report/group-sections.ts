/**
 * The parts of a report that hold items of a batch against each other: agents, scores, and copies that are judged as one.
 * Pure: data in, blocks out; must not lay anything out.
 */
import type { Score } from '../core/run/items/item-evidence.ts';
import { wholeItems, type WholeItem } from '../core/run/items/whole-items.ts';
import { boundedTable, left, right, table, text, type Section } from './document.ts';
import { addSpend, NO_SPEND } from './own-spend.ts';
import type { ReportData, ReportItem } from './report-data.ts';
import { duration, spentWords, usdWords } from './report-words.ts';
import { workMs } from './work-sections.ts';

/** Of a conversation that names none. */
const UNNAMED = "the deployment's";

/** Without blocks where all conversations have the same agent. */
export function agentSection({ items }: ReportData): Section {
  const agents = new Set(items.map(({ agent }) => agent ?? UNNAMED));
  return {
    title: 'Agents compared',
    blocks:
      agents.size < 2
        ? []
        : [
            text('Time is the median from the last admission to the end; costs are what the proxy counted.'),
            ...table(
              [
                left('agent'),
                left('model'),
                right('conversations'),
                right('succeeded'),
                right('time'),
                right('calls'),
                right('spent'),
                right('a success'),
              ],
              groupsBy(items, ({ agent }) => agent ?? UNNAMED).map(cells),
            ),
          ],
  };
}

/** By name and model, in the order of the plan. */
function groupsBy(
  items: readonly ReportItem[],
  nameOf: (item: ReportItem) => string,
): readonly (readonly ReportItem[])[] {
  const groups = new Map<string, ReportItem[]>();
  for (const item of items) {
    const name = `${nameOf(item)}\n${item.model}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

function cells(items: readonly ReportItem[]): readonly string[] {
  const [first] = items;
  const succeeded = items.filter(({ row }) => row?.outcome === 'succeeded').length;
  const spend = items.map((item) => item.spend).reduce(addSpend, NO_SPEND);
  const isKnown = succeeded > 0 && spend.unpriced === 0;
  return [
    first?.agent ?? UNNAMED,
    first?.model ?? '',
    String(items.length),
    `${succeeded} (${Math.round((100 * succeeded) / items.length)} %)`,
    duration(median(items.flatMap(({ row }) => workMs(row) ?? []))),
    String(spend.calls),
    spentWords(spend),
    isKnown ? usdWords(Math.round(spend.nanoUsd / succeeded)) : '-',
  ];
}

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

/** A `.jsonl` report holds every item. */
const ITEMS_SHOWN_MAX = 1_000;
/** Digits of a number that was computed. */
const DIGITS = 6;

/** Without blocks in a run that measures nothing. */
export function scoreSection({ items }: ReportData): Section {
  const measured = items.filter(({ scores }) => scores.length > 0);
  const names = [...new Set(measured.flatMap(({ scores }) => scores.map(({ name }) => name)))];
  const columns = names.map((name) => right(name));
  return {
    title: 'Scores',
    blocks:
      measured.length === 0
        ? []
        : [
            text('On average, by conversation of the job and model; n is how many have a number.'),
            ...table(
              [left('conversation'), left('model'), right('n'), ...columns],
              averages(measured, names),
            ),
            ...boundedTable(
              [left('key'), ...columns],
              {
                entries: measured,
                cells: ({ key, scores }) => [key, ...names.map((name) => cell(scores, name))],
              },
              { shownMax: ITEMS_SHOWN_MAX, what: 'conversation' },
            ),
          ],
  };
}

function averages(items: readonly ReportItem[], names: readonly string[]): readonly (readonly string[])[] {
  return groupsBy(items, ({ entry }) => entry).map((group) => [
    group[0]?.entry ?? '',
    group[0]?.model ?? '',
    String(group.filter(({ scores }) => scores.some(({ value }) => value !== null)).length),
    ...names.map((name) => average(group, name)),
  ]);
}

function average(items: readonly ReportItem[], name: string): string {
  const values = items.flatMap(({ scores }) => {
    const value = scores.find((score) => score.name === name)?.value ?? null;
    return value === null ? [] : [value];
  });
  if (values.length === 0) return '-';
  return String(Number((values.reduce((sum, value) => sum + value, 0) / values.length).toPrecision(DIGITS)));
}

/** What is not good enough, or not there, is marked; why stands in the detail of the item. */
function cell(scores: readonly Score[], name: string): string {
  const score = scores.find((one) => one.name === name);
  if (score === undefined) return '-';
  const value = score.value === null ? 'none' : String(score.value);
  return score.problem === null ? value : `${value} (not good)`;
}

const WHOLES_SHOWN_MAX = 1_000;

/** In the order of their first copies. */
export function wholesOf(items: readonly ReportItem[]): readonly WholeItem[] {
  return wholeItems(
    items.map(({ row, whole }) => ({
      ...(whole === undefined ? {} : { whole }),
      outcome: row?.phase === 'ended' ? row.outcome : null,
    })),
  );
}

/** `2 of 3 copies succeeded, majority` */
export function wholeWords({ succeeded, copies, rule }: WholeItem): string {
  return `${succeeded} of ${copies} copies succeeded, ${rule}`;
}

/** Without blocks where every conversation is judged by itself. */
export function wholeSection({ items }: ReportData): Section {
  return {
    title: 'Items as a whole',
    blocks: boundedTable(
      [left('item'), right('succeeded'), right('copies'), left('rule'), left('outcome')],
      { entries: wholesOf(items), cells: wholeCells },
      { shownMax: WHOLES_SHOWN_MAX, what: 'item' },
    ),
  };
}

function wholeCells({ key, succeeded, copies, rule, verdict }: WholeItem): readonly string[] {
  return [key, String(succeeded), String(copies), rule, verdict];
}
