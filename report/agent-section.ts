/**
 * The part of a report that holds the agents of a batch against each other: success, time and cost.
 * Pure: data in, blocks out; must not lay anything out.
 */
import { left, right, table, text, type Section } from './document.ts';
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
              groupsOf(items).map(cells),
            ),
          ],
  };
}

/** By agent and model, in the order of the plan. */
function groupsOf(items: readonly ReportItem[]): readonly (readonly ReportItem[])[] {
  const groups = new Map<string, ReportItem[]>();
  for (const item of items) {
    const name = `${item.agent ?? UNNAMED}\n${item.model}`;
    groups.set(name, [...(groups.get(name) ?? []), item]);
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
