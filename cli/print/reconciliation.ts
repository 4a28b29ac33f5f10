/**
 * A reconciliation for people and for programs: sums, shares by group and conversation, both remainders.
 * Owns the layout; numbers are computed elsewhere.
 */
import type { ReconcileAnswer } from '../../activities/reconcile-run.ts';
import type {
  ConversationTotal,
  ReconcileGroup,
  ReconcileSums,
} from '../../core/reconcile/reconcile-result.ts';
import { lossWords, type SpendLoss } from '../../core/money/spend-loss.ts';
import { addSums, compareSums, type UsdSum } from '../../core/money/usd-sum.ts';
import { usd } from '../../core/text/amounts.ts';
import type { JsonRecord } from '../../host/records.ts';
import { table, type Column } from '../../host/terminal-text.ts';

/** Longer lists are in `reconciliation.json` and in the records. */
const SHOWN_MAX = 12;
const NAME_WIDTH = 48;
const UNKNOWN = '(not known)';

/** What is said after the line of sums. */
export function reconciliationText(
  { sums, isKept, lost }: ReconcileAnswer,
  expected: readonly string[],
): string[] {
  return [
    countsLine(sums),
    ...(lost === null ? [] : [lossWords(lost)]),
    ...expected.map((text, index) => `expected ${text}: ${isKept[index] === true ? 'kept' : 'NOT KEPT'}`),
    ...groupLists(sums).flatMap(({ by, groups }) => groupTable(by, groups)),
    ...conversationTable(sums.conversations),
    ...unbilledLines(sums),
  ];
}

/** Of the record of a reconciliation; none when nothing is known to have been lost. */
export function lossFields(lost: SpendLoss | null): Readonly<Record<string, unknown>> {
  if (lost === null) return {};
  const { calls, costNanoUsd, from, to, mayBeMore, seenAt } = lost;
  const known = { calls, cost_nano_usd: costNanoUsd, may_be_more: mayBeMore };
  return { spend_lost: { ...known, from: iso(from), to: iso(to), seen_at: iso(seenAt) } };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function countsLine({ counts, clockSkewMs, clocksMs }: ReconcileSums): string {
  const parts = [
    `joined by response id ${counts.byResponseId}`,
    `by session ${counts.bySession}`,
    `by time ${counts.byWindow}`,
    `ambiguous ${counts.ambiguous}`,
    `unassigned ${counts.unassigned} (${counts.foreign} with an id that is none of ours)`,
    `unpriced ${counts.unpriced}`,
    `billed again ${counts.duplicates}`,
    `late ${counts.late}`,
    `calls that nobody billed ${counts.unbilled}`,
  ];
  return `${parts.join(', ')}; ${clockWords(clockSkewMs, clocksMs)}`;
}

/** Only pairs joined by response id show it, and without it nothing is certain by time (D35). */
function clockWords(aheadMs: number | null, clocksMs: readonly number[]): string {
  if (aheadMs === null)
    return 'their clock is unknown: no row has a response id of ours, so none is joined by time';
  if (clocksMs.length === 0) return 'their clocks differ too much: no row is joined by time';
  if (clocksMs.length === 1) return `their clock ahead by ${aheadMs} ms`;
  return `their clocks ahead by ${clocksMs.join(' ms, ')} ms`;
}

interface GroupsBy {
  readonly by: string;
  readonly groups: readonly ReconcileGroup[];
}

function groupLists({ breakdown }: ReconcileSums): readonly GroupsBy[] {
  return [
    ...Object.entries(breakdown.byTag).map(([key, groups]) => ({ by: `tag:${key}`, groups })),
    { by: 'team', groups: breakdown.byTeam },
    { by: 'user', groups: breakdown.byUser },
    { by: 'model', groups: breakdown.byModel },
  ];
}

const AMOUNTS: readonly Column[] = [
  'rows',
  'assigned',
  'ambiguous',
  'unassigned',
  'unpriced',
  'not billed',
].map((title) => ({ title, side: 'right' }));

function groupTable(by: string, groups: readonly ReconcileGroup[]): string[] {
  if (groups.length === 0) return [];
  const rows = groups
    .slice(0, SHOWN_MAX)
    .map((group) => [
      group.name ?? UNKNOWN,
      String(group.rows),
      usd(group.assigned),
      usd(group.ambiguous),
      usd(group.unassigned),
      String(group.unpriced),
      String(group.unbilledCalls),
    ]);
  return ['', ...table([{ title: by, widthMax: NAME_WIDTH }, ...AMOUNTS], rows), ...more(groups.length)];
}

function conversationTable(conversations: readonly ConversationTotal[]): string[] {
  if (conversations.length === 0) return [];
  const sorted = [...conversations].sort((a, b) => compareSums(billed(b), billed(a)));
  const columns: readonly Column[] = [
    { title: 'conversation', widthMax: NAME_WIDTH },
    { title: 'rows', side: 'right' },
    { title: 'assigned', side: 'right' },
    { title: 'estimated', side: 'right' },
  ];
  const rows = sorted
    .slice(0, SHOWN_MAX)
    .map((one) => [one.key ?? one.conversationId, String(one.rows), usd(one.assigned), usd(one.estimated)]);
  return ['', ...table(columns, rows), ...more(conversations.length)];
}

function billed({ assigned, estimated }: ConversationTotal): UsdSum {
  return addSums(assigned, estimated);
}

function unbilledLines({ unbilledCalls }: ReconcileSums): string[] {
  const shown = unbilledCalls.slice(0, SHOWN_MAX);
  return shown.length === 0 ? [] : ['', `not billed: ${shown.join(', ')}`, ...more(unbilledCalls.length)];
}

function more(length: number): string[] {
  return length > SHOWN_MAX ? [`… and ${length - SHOWN_MAX} more`] : [];
}

/** One record for each group and each conversation. */
export function reconciliationRecords(runId: string, { sums }: ReconcileAnswer): readonly JsonRecord[] {
  const groups = groupLists(sums).flatMap(({ by, groups: list }) => list.map((group) => ({ by, group })));
  return [
    ...groups.map(({ by, group }) => ({
      type: 'reconciliation_group',
      run_id: runId,
      by,
      name: group.name,
      rows: group.rows,
      ...amounts(group),
      unpriced: group.unpriced,
      unbilled_calls: group.unbilledCalls,
    })),
    ...sums.conversations.map((one) => ({
      type: 'reconciliation_conversation',
      run_id: runId,
      key: one.key,
      conversation_id: one.conversationId,
      rows: one.rows,
      assigned_nano_usd: one.assigned,
      estimated_nano_usd: one.estimated,
    })),
  ];
}

function amounts(group: ReconcileGroup): Readonly<Record<string, UsdSum>> {
  const { assigned, ambiguous, unassigned } = group;
  return { assigned_nano_usd: assigned, ambiguous_nano_usd: ambiguous, unassigned_nano_usd: unassigned };
}
