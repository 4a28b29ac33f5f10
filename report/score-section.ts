/**
 * The part of a report about scores: what each conversation was given, and each model and entry on average.
 * Pure: data in, blocks out; must not lay anything out.
 */
import { andMore, left, right, table, text, type Section } from './document.ts';
import type { ReportData, ReportItem } from './report-data.ts';
import type { Score } from '../core/run/items/item-evidence.ts';

/** A `.jsonl` report holds every item. */
const ITEMS_SHOWN_MAX = 1_000;
/** Digits of a number that was computed. */
const DIGITS = 6;

/** Without blocks in a run that measures nothing. */
export function scoreSection({ items }: ReportData): Section {
  const measured = items.filter(({ scores }) => scores.length > 0);
  const names = [...new Set(measured.flatMap(({ scores }) => scores.map(({ name }) => name)))];
  const shown = measured.slice(0, ITEMS_SHOWN_MAX);
  const rest = measured.length - shown.length;
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
            ...table(
              [left('key'), ...columns],
              shown.map(({ key, scores }) => [key, ...names.map((name) => cell(scores, name))]),
            ),
            ...andMore(rest, 'conversation'),
          ],
  };
}

function averages(items: readonly ReportItem[], names: readonly string[]): readonly (readonly string[])[] {
  const groups = new Map<string, ReportItem[]>();
  for (const item of items) {
    const name = `${item.entry}\n${item.model}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return [...groups.values()].map((group) => [
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
