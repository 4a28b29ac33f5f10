/**
 * The part of a report about money: totals, and what reconciliation found in both directions (D27).
 * Pure: data in, blocks out; must not lay anything out.
 */
import type { ReconciliationDone, RecordedRow } from '../core/reconcile/reconciliation-record.ts';
import { counted } from '../core/text/counted.ts';
import type { ConversationId } from '../core/ids.ts';
import type { AmbiguousWhy, UnassignedWhy } from '../core/reconcile/reconcile-result.ts';
import { lossWords } from '../core/money/spend-loss.ts';
import { addSums, type UsdSum } from '../core/money/usd-sum.ts';
import { boundedList, left, right, table, text, type Block, type Section } from './document.ts';
import type { ReportData } from './report-data.ts';
import { cut, instant, usdWords } from './report-words.ts';

/** Of each kind of finding; `reconciliation.json` holds all. */
const FINDINGS_SHOWN_MAX = 50;
const CANDIDATES_SHOWN_MAX = 5;
const NAME_CHARACTERS_MAX = 120;
const ID_CHARACTERS = 8;
const BOUND = { shownMax: FINDINGS_SHOWN_MAX, where: 'reconciliation.json' };

export function moneySection(data: ReportData): Section {
  const { reconciliation } = data;
  const done = reconciliation?.kind === 'done' ? reconciliation : null;
  return {
    title: 'Money',
    blocks: [
      ...table(
        [left('amount'), right('USD')],
        [...(done === null ? [] : billedRows(done)), ...ownRows(data, done)],
      ),
      ...unpricedLine(data),
      ...lostLine(data),
    ],
  };
}

function amountRow(name: string, nano: UsdSum): readonly string[] {
  return [name, usdWords(nano)];
}

function billedRows({
  source,
  result,
  otherCallersNanoUsd,
}: ReconciliationDone): readonly (readonly string[])[] {
  const { total, assigned, ambiguous, unassigned, estimated } = result;
  return [
    amountRow(`total of ${sourceWords(source)}`, total),
    amountRow('assigned to conversations', assigned),
    amountRow('ambiguous: several conversations could have caused it', ambiguous),
    ...(estimated === 0 ? [] : [amountRow('of it split by tokens, an estimate', estimated)]),
    amountRow('unassigned: no conversation of this run', unassigned),
    ...(otherCallersNanoUsd === 0
      ? []
      : [amountRow('of it sent by our proxy for other callers', otherCallersNanoUsd)]),
  ];
}

function ownRows({ spend }: ReportData, done: ReconciliationDone | null): readonly (readonly string[])[] {
  const own = amountRow('counted by our proxy for these conversations', spend.nanoUsd);
  return done === null
    ? [own]
    : [own, amountRow('assigned less counted', addSums(done.result.assigned, -spend.nanoUsd))];
}

export function sourceWords(source: ReconciliationDone['source']): string {
  switch (source.from) {
    case 'gateway':
      return "the gateway's export";
    case 'proxy':
      return "our proxy's own rows";
    case 'file':
      return `the export ${cut(source.path, NAME_CHARACTERS_MAX)}`;
  }
}

function unpricedLine({ spend }: ReportData): readonly Block[] {
  if (spend.unpriced === 0) return [];
  return [
    text(
      `${counted(spend.unpriced, 'call')} of ${spend.calls} unpriced: what our proxy counted is less than was spent.`,
      'bad',
    ),
  ];
}

function lostLine({ spendLost }: ReportData): readonly Block[] {
  if (spendLost === null) return [];
  const words = lossWords(spendLost);
  return [text(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`, 'bad')];
}

/** Without blocks when there is nothing to say beyond the verdict. */
export function reconciliationSection({ reconciliation }: ReportData): Section {
  const blocks = reconciliation?.kind === 'done' ? reconciliationBlocks(reconciliation) : [];
  return { title: 'Reconciliation', blocks };
}

function reconciliationBlocks(done: ReconciliationDone): readonly Block[] {
  const { conversations, unbilledCalls } = done.result;
  const words = rowWords(done);
  const unmatched = done.rows.filter((row) => row.kind !== 'assigned');
  const repeated = done.rows.filter((row) => row.isDuplicate);
  const unbilled = conversations.filter((one) => one.rows === 0);
  return [
    ...table([left('finding'), right('count')], findings(done)),
    text(origin(done)),
    ...named('Rows without a conversation:', unmatched, words),
    ...named('Rows that bill a response again:', repeated, words),
    ...named('Conversations without rows:', unbilled, (one) => nameOf(one.key, one.conversationId)),
    ...named('Calls that nobody billed:', unbilledCalls, (callId) => callId),
  ];
}

function named<Entry>(
  title: string,
  entries: readonly Entry[],
  words: (entry: Entry) => string,
): readonly Block[] {
  return entries.length === 0 ? [] : [text(title), ...boundedList(entries, words, BOUND)];
}

function findings({ result: { counts } }: ReconciliationDone): readonly (readonly string[])[] {
  const rows: readonly (readonly [string, number])[] = [
    ['rows', counts.rows],
    ['assigned by response id', counts.byResponseId],
    ['assigned by session id', counts.bySession],
    ['assigned by model and time', counts.byWindow],
    ['ambiguous', counts.ambiguous],
    ['unassigned', counts.unassigned],
    ['rows that bill a response again', counts.duplicates],
    ['conversations without rows', counts.conversationsWithoutRows],
    ['calls that nobody billed', counts.unbilled],
  ];
  return rows.map(([name, count]) => [name, String(count)]);
}

function origin(done: ReconciliationDone): string {
  const { interval, result, reconciledAt, source } = done;
  const rows =
    source.from === 'file' ? 'all rows' : `rows from ${instant(interval.from)} to ${instant(interval.to)}`;
  const clock = clockWords(result.clockSkewMs, result.clocksMs);
  return `Made at ${instant(reconciledAt)} from ${sourceWords(source)}, ${rows}; ${clock}.`;
}

/** Without a pair by response id time proves nothing (D35). */
function clockWords(skewMs: number | null, clocksMs: readonly number[]): string {
  if (skewMs === null) return 'no row shows how the clocks differ, so that none is joined by time';
  if (clocksMs.length === 0) return 'clocks differ too much for a row to be joined by time';
  return `clocks differ by ${(clocksMs.length === 1 ? [skewMs] : clocksMs).join(' ms, ')} ms`;
}

/** Conversations go by the key of their item: that is what people know them by. */
function nameOf(key: string | null, id: ConversationId): string {
  return `${key ?? '-'} (conversation ${id.slice(0, ID_CHARACTERS)})`;
}

function rowWords({ result }: ReconciliationDone): (row: RecordedRow) => string {
  const keys = new Map(result.conversations.map(({ conversationId, key }) => [conversationId, key]));
  const name = (id: ConversationId): string => nameOf(keys.get(id) ?? null, id);
  return (row) => {
    const id = row.responseId === null ? 'no response id' : cut(row.responseId, NAME_CHARACTERS_MAX);
    const model = cut(row.model, NAME_CHARACTERS_MAX);
    const words = `row ${row.position}, ${instant(row.startedAt)}, ${model}, ${id}, ${usdWords(row.cost)}`;
    return `${words}: ${whyWords(row, name)}`;
  };
}

function whyWords(row: RecordedRow, name: (id: ConversationId) => string): string {
  switch (row.kind) {
    case 'assigned':
      return `assigned to ${name(row.conversationId)}`;
    case 'ambiguous': {
      const shown = row.candidates.slice(0, CANDIDATES_SHOWN_MAX).map(name);
      const rest = row.candidates.length > shown.length || row.isTruncated ? ' and more' : '';
      return `ambiguous${DOUBTS[row.why]} ${shown.join(', ')}${rest}`;
    }
    case 'unassigned':
      return UNASSIGNED[row.why];
  }
}

const DOUBTS: Readonly<Record<AmbiguousWhy, string>> = {
  several: ' between',
  crowded: ', more rows than open calls at that time:',
  clock_unknown: ', how the clocks differ is not known:',
  other_callers: ', another caller of our proxy or',
  time_alone: ', nothing but time and model tells it from rows of others; probably',
};

const UNASSIGNED: Readonly<Record<UnassignedWhy, string>> = {
  other_caller: 'another caller of our proxy',
  foreign: 'its id is that of no call of ours',
  no_candidate: 'no call of our proxy',
};
