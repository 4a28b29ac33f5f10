/**
 * The part of a report about items that are run several times and judged as one.
 * Pure; owns how a copy is forgiven there. Must not lay anything out.
 */
import { wholeItems, type WholeItem } from '../core/run/items/whole-items.ts';
import { andMore, left, right, table, type Section } from './document.ts';
import type { ReportData, ReportItem } from './report-data.ts';

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
  const wholes = wholesOf(items);
  const shown = wholes.slice(0, WHOLES_SHOWN_MAX);
  const rest = wholes.length - shown.length;
  return {
    title: 'Items as a whole',
    blocks: [
      ...table(
        [left('item'), right('succeeded'), right('copies'), left('rule'), left('outcome')],
        shown.map(({ key, succeeded, copies, rule, verdict }) => [
          key,
          String(succeeded),
          String(copies),
          rule,
          verdict,
        ]),
      ),
      ...andMore(rest, 'item'),
    ],
  };
}
