/**
 * The part of a report about the work: what the run was, how its conversations ended, where their results are.
 * Pure: data in, blocks out; must not lay anything out.
 */
import { findingWords } from '../core/run/items/item-evidence.ts';
import { counted } from '../core/text/counted.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import { addSums, type UsdSum } from '../core/money/usd-sum.ts';
import {
  boundedTable,
  left,
  right,
  table,
  text,
  boundedList,
  type Block,
  type Cell,
  type Section,
} from './document.ts';
import { moneyVerdict, workVerdict } from './report-verdict.ts';
import type { ReportData, ReportItem } from './report-data.ts';
import { cut, duration, usdWords, instant, spentWords } from './report-words.ts';

/** A table that people read; `.jsonl` reports hold every item. */
const ITEMS_SHOWN_MAX = 5_000;
const DETAILS_SHOWN_MAX = 200;
const DETAIL_CHARACTERS_MAX = 500;
/** Each has up to twenty lines. */
const CHECKS_SHOWN_MAX = 50;
/** Enough of an id to find it again. */
const ID_CHARACTERS = 8;

export function summarySection(data: ReportData): Section {
  const work = workVerdict(data);
  const money = moneyVerdict(data);
  return {
    title: null,
    blocks: [
      text(`${work.words}.`, work.tone),
      ...(money === null ? [] : [text(`${money.words}.`, money.tone)]),
      ...factSection(data).blocks,
    ],
  };
}

/** What the run was, and when. */
export function factSection(data: ReportData): Section {
  const { run } = data;
  const labels = Object.entries(data.labels).map(([name, value]) => `${name}=${value}`);
  const facts: readonly (readonly [string, string | null])[] = [
    ['run', run.runId],
    ['job', run.name],
    ['about', data.description],
    ['labels', labels.length === 0 ? null : labels.join(', ')],
    ['plan', run.planHash],
    ['began', instant(run.createdAt)],
    [
      'ended',
      run.endedAt === null ? null : `${instant(run.endedAt)} (${duration(run.endedAt - run.createdAt)})`,
    ],
    ['reported', instant(data.writtenAt)],
  ];
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return { title: 'About this run', blocks: table([left('fact'), left('value')], rows) };
}

/** Why checks failed, and what results lack: without blocks where everything is well. */
export function evidenceSection({ items }: ReportData): Section {
  const failed = items.filter(({ check }) => check.length > 0);
  const lacking = items.flatMap(({ key, findings }) => findings.map((finding) => ({ key, finding })));
  const rest = failed.length - CHECKS_SHOWN_MAX;
  return {
    title: 'What failed, and what is missing',
    blocks: [
      ...failed
        .slice(0, CHECKS_SHOWN_MAX)
        .flatMap(({ key, check }): readonly Block[] => [
          text(`The check of ${key} ended with:`),
          { kind: 'output', lines: check },
        ]),
      ...(rest > 0 ? [text(`And ${counted(rest, 'failed check')} more, in a .jsonl report.`)] : []),
      ...boundedList(
        lacking,
        ({ key, finding }) => `${key}: ${cut(findingWords(finding), DETAIL_CHARACTERS_MAX)}`,
        { shownMax: DETAILS_SHOWN_MAX },
      ),
    ],
  };
}

/** By outcome and failure class; what has not ended is counted by what it is doing. */
export function outcomeSection({ items }: ReportData): Section {
  const counts = new Map<string, number>();
  for (const { row } of items) {
    const state = stateWords(row);
    const name = `${state.outcome}\n${state.failureClass}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const rows = [...counts].sort(byName).map(([name, count]) => [...name.split('\n'), String(count)]);
  return {
    title: 'Outcomes',
    blocks: table([left('outcome'), left('failure class'), right('conversations')], rows),
  };
}

const byName = ([a]: readonly [string, number], [b]: readonly [string, number]): number =>
  a < b ? -1 : a > b ? 1 : 0;

function stateWords(row: RunItemRow | null): { readonly outcome: string; readonly failureClass: string } {
  if (row?.phase === 'ended')
    return { outcome: row.outcome ?? 'ended', failureClass: row.failureClass ?? '-' };
  return { outcome: `not ended: ${row?.phase ?? 'waiting'}`, failureClass: row?.failureClass ?? '-' };
}

export function itemSection(data: ReportData): Section {
  const billed = billedByKey(data);
  const columns = [
    left('key'),
    left('outcome'),
    left('agent'),
    right('attempts'),
    left('sandbox'),
    right('time'),
    right('calls'),
    right('tokens in'),
    right('tokens out'),
    right('spent'),
    ...(billed === null ? [] : [right('billed')]),
    left('results'),
  ];
  return {
    title: 'Conversations',
    blocks: [
      ...boundedTable(
        columns,
        { entries: data.items, cells: (item) => itemCells(item, billed) },
        { shownMax: ITEMS_SHOWN_MAX, what: 'conversation' },
      ),
      ...boundedList(data.items.filter(hasDetail), detail, { shownMax: DETAILS_SHOWN_MAX }),
    ],
  };
}

export interface BilledSums {
  readonly assigned: UsdSum;
  readonly estimated: UsdSum;
}

export type Billed = ReadonlyMap<string, BilledSums>;

/** What rows bill to each item, all attempts together; null without a reconciliation. */
export function billedByKey({ reconciliation }: ReportData): Billed | null {
  if (reconciliation?.kind !== 'done') return null;
  const billed = new Map<string, BilledSums>();
  for (const { key, assigned, estimated } of reconciliation.result.conversations) {
    if (key === null) continue;
    const known = billed.get(key) ?? { assigned: 0, estimated: 0 };
    billed.set(key, {
      assigned: addSums(known.assigned, assigned),
      estimated: addSums(known.estimated, estimated),
    });
  }
  return billed;
}

function itemCells(item: ReportItem, billed: Billed | null): readonly Cell[] {
  const { row, spend } = item;
  const { outcome, failureClass } = stateWords(row);
  return [
    item.key,
    failureClass === '-' || failureClass === outcome ? outcome : `${outcome} (${failureClass})`,
    row?.executionStatus ?? '-',
    String(row?.attempt ?? 0),
    row?.sandboxId?.slice(0, ID_CHARACTERS) ?? '-',
    duration(workMs(row)),
    String(spend.calls),
    String(spend.promptTokens),
    String(spend.completionTokens),
    spentWords(spend),
    ...(billed === null ? [] : [billedWords(billed, item.key)]),
    item.files.length === 0 ? '-' : item.files.map(({ name, href }) => ({ text: name, href })),
  ];
}

/** From the last admission to the end; null when either is missing. */
export function workMs(row: RunItemRow | null): number | null {
  return row?.admittedAt == null || row.endedAt === null ? null : row.endedAt - row.admittedAt;
}

export function billedWords(billed: Billed, key: string): string {
  const { assigned, estimated } = billed.get(key) ?? { assigned: 0, estimated: 0 };
  return estimated === 0 ? usdWords(assigned) : `${usdWords(assigned)} + ${usdWords(estimated)} estimated`;
}

const hasDetail = ({ row }: ReportItem): boolean => row !== null && row.detail !== null;

/** Why a check failed, or what went wrong: too long for a table. */
function detail({ key, row }: ReportItem): string {
  return `${key}: ${cut(row?.detail ?? '', DETAIL_CHARACTERS_MAX)}`;
}
