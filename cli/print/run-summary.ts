/**
 * What a run came to, for people: outcomes, axes, errors, money, where things are, what to type next.
 * Owns the layout; numbers come from rows, and nothing is computed anew.
 */
import { makespanBoundMs, mostAtOnce } from '../../core/makespan-bound.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ReconciliationSummary, RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { wholeItems } from '../../core/run/items/whole-items.ts';
import { OUTCOMES } from '../../core/status.ts';
import type { Delivery, ItemEvidence } from '../run-results.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import { deliveryLines } from './deliveries.ts';
import { checkLines, findingLines } from './evidence.ts';
import { itemState, runCounts, runState, troubleText } from '../../core/run/run-words.ts';
import { cut, table } from '../../host/terminal-text.ts';

export interface RunResult {
  readonly row: RunRow;
  readonly items: readonly RunItemRow[];
  readonly plan: Plan | null;
  /** Folder of the results. */
  readonly results: string;
  /** Branches that it pushed, or could not. */
  readonly deliveries: readonly Delivery[];
  /** Why checks failed, and what results lack. */
  readonly evidence: readonly ItemEvidence[];
  /** The next command to type; null when there is nothing to do. */
  readonly next: string | null;
}

/** Longer lists are in the report. */
const ITEMS_SHOWN_MAX = 40;
const ERRORS_SHOWN_MAX = 5;
const AXIS_VALUES_MAX = 12;
const DETAIL_WIDTH = 140;
/** A cause goes through several hands, and its end says most. */
const TROUBLE_WIDTH = 400;

export function runSummary(result: RunResult): string {
  const { row, items, plan, results, deliveries, evidence, next } = result;
  const took = row.endedAt === null ? '' : ` in ${duration(row.endedAt - row.createdAt)}`;
  const blocks = [
    [`${row.name}: ${runState(row)}${took}`, runCounts(row), ...troubleLines(row)],
    itemTable(items),
    outcomeTable(row),
    wholeTable(items, plan),
    ...axisTables(items, plan),
    errorLines(items),
    checkLines(evidence),
    findingLines(evidence),
    [...timeLines(row, items), ...moneyLines(row, plan)],
    deliveryLines(deliveries),
    [`results: ${results}`, ...reportLines(row, plan, results), ...(next === null ? [] : [`next: ${next}`])],
  ];
  const shown = blocks.filter((block) => block.length > 0).map((block) => block.join('\n'));
  return `${shown.join('\n\n')}\n`;
}

/** What is tried again at this moment, in one line; nothing when all goes well. */
function troubleLines({ trouble }: RunRow): string[] {
  return trouble == null ? [] : [cut(troubleText(trouble), TROUBLE_WIDTH)];
}

/** Troubles first, when there are more items than fit. */
export function itemTable(items: readonly RunItemRow[]): string[] {
  const isLong = items.length > ITEMS_SHOWN_MAX;
  const chosen = isLong ? items.filter((item) => item.outcome !== 'succeeded') : items;
  const shown = chosen.slice(0, ITEMS_SHOWN_MAX);
  if (shown.length === 0) return [];
  const rows = shown.map((item) => [
    item.key,
    itemState(item),
    String(item.attempt),
    duration(item.admittedAt === null || item.endedAt === null ? null : item.endedAt - item.admittedAt),
    usd(item.costNanoUsd),
  ]);
  const lines = table(
    [
      { title: 'key', widthMax: 60 },
      { title: 'state' },
      { title: 'attempts', side: 'right' },
      { title: 'time', side: 'right' },
      { title: 'spend', side: 'right' },
    ],
    rows,
  );
  return items.length === shown.length ? lines : [...lines, `and ${items.length - shown.length} more`];
}

function outcomeTable(row: RunRow): string[] {
  const rows = OUTCOMES.filter((outcome) => (row.ended[outcome] ?? 0) > 0).map((outcome) => [
    outcome,
    String(row.ended[outcome]),
  ]);
  return rows.length < 2 ? [] : table([{ title: 'outcome' }, { title: 'count', side: 'right' }], rows);
}

/** Items that are run several times and judged as one. */
function wholeTable(items: readonly RunItemRow[], plan: Plan | null): string[] {
  const byKey = new Map(items.map((item) => [item.key, item]));
  const copies = (plan?.items ?? []).map(({ key, whole }) => ({
    ...(whole === undefined ? {} : { whole }),
    outcome: byKey.get(key)?.outcome ?? null,
  }));
  const wholes = wholeItems(copies);
  if (wholes.length === 0) return [];
  const rows = wholes
    .slice(0, ITEMS_SHOWN_MAX)
    .map(({ key, rule, copies: of, succeeded, verdict }) => [key, `${succeeded}/${of}`, rule, verdict]);
  const lines = table(
    [
      { title: 'item as a whole', widthMax: 60 },
      { title: 'succeeded', side: 'right' },
      { title: 'rule' },
      { title: 'outcome' },
    ],
    rows,
  );
  return wholes.length === rows.length ? lines : [...lines, `and ${wholes.length - rows.length} more`];
}

/** By every axis of the matrix: how many of each value succeeded. */
function axisTables(items: readonly RunItemRow[], plan: Plan | null): string[][] {
  const byKey = new Map(items.map((item) => [item.key, item]));
  const axes = new Map<string, Map<string, { succeeded: number; total: number }>>();
  for (const { key, matrix } of plan?.items ?? []) {
    for (const [axis, value] of Object.entries(matrix)) {
      const values = axes.get(axis) ?? new Map<string, { succeeded: number; total: number }>();
      const count = values.get(value) ?? { succeeded: 0, total: 0 };
      count.total += 1;
      if (byKey.get(key)?.outcome === 'succeeded') count.succeeded += 1;
      axes.set(axis, values.set(value, count));
    }
  }
  return [...axes].map(([axis, values]) => {
    const rows = [...values].map(([value, count]) => [value, `${count.succeeded}/${count.total}`]);
    const columns = [
      { title: axis, widthMax: 60 },
      { title: 'succeeded', side: 'right' as const },
    ];
    return table(columns, rows.slice(0, AXIS_VALUES_MAX));
  });
}

/** Equal reasons are one line with a count. */
function errorLines(items: readonly RunItemRow[]): string[] {
  const groups = new Map<string, number>();
  for (const item of items) {
    if (item.phase !== 'ended' || item.outcome === 'succeeded' || item.detail === null) continue;
    const text = `${itemState(item)}: ${cut(item.detail, DETAIL_WIDTH)}`;
    groups.set(text, (groups.get(text) ?? 0) + 1);
  }
  const sorted = [...groups].sort(([, a], [, b]) => b - a).slice(0, ERRORS_SHOWN_MAX);
  return sorted.map(([text, count]) => `${count} x ${text}`);
}

/** How close the batch came to what its conversations, each as long as it was, need at the least on as many places. */
function timeLines({ createdAt, endedAt }: RunRow, items: readonly RunItemRow[]): string[] {
  const intervals = items.flatMap(({ admittedAt, endedAt: to }) =>
    admittedAt === null || to === null ? [] : [{ from: admittedAt, to }],
  );
  if (endedAt === null || intervals.length < 2) return [];
  const tookMs = Math.max(...intervals.map(({ to }) => to)) - createdAt;
  const peak = mostAtOnce(intervals);
  const bound = duration(makespanBoundMs(intervals));
  return [`time: ${duration(tookMs)}, at most ${peak} at once; list scheduling at least ${bound}`];
}

function moneyLines(row: RunRow, plan: Plan | null): string[] {
  const budget = plan?.budget == null ? '' : ` of a budget of ${usd(plan.budget.nanoUsd)}`;
  const lines = [`spend: ${usd(row.spentNanoUsd)}${budget}`];
  if (row.reconciliation !== null) lines.push(...reconciliationLines(row.reconciliation));
  else if (row.phase === 'finished' && plan?.reconcile != null)
    lines.push('reconciliation: none was possible');
  return lines;
}

export function reconciliationLines(summary: ReconciliationSummary): string[] {
  const parts = [
    `total ${usd(summary.totalNanoUsd)}`,
    `assigned ${usd(summary.assignedNanoUsd)}`,
    `ambiguous ${usd(summary.ambiguousNanoUsd)}`,
    `unassigned ${usd(summary.unassignedNanoUsd)}`,
  ];
  return [`reconciliation: ${summary.rows} rows, ${parts.join(', ')}; ${toleranceWords(summary)}`];
}

function toleranceWords({ withinTolerance }: ReconciliationSummary): string {
  if (withinTolerance === null) return 'no bound is set on what may stay unmatched';
  return withinTolerance ? 'within tolerance' : 'outside tolerance';
}

function reportLines(row: RunRow, plan: Plan | null, results: string): string[] {
  if (row.phase !== 'finished') return [];
  return (plan?.report ?? []).map(({ file }) => `report: ${results}/${file}`);
}
