/**
 * Spend by bucket and group as the series of a stacked picture.
 * Owns the order, the dearest at the bottom, and the buckets in which nothing was spent.
 */
import type { ResultOf } from '../../api/client/client.ts';

export type Spend = ResultOf<'get_spend'>;
type Group = Pick<Spend['groups'][number], 'kind' | 'name'>;

export interface SpendSeries {
  /** Beginnings of all buckets, seconds since 1970. */
  readonly times: readonly number[];
  /** In the order of the groups: US dollars in each bucket. */
  readonly amounts: readonly (readonly number[])[];
  /** The same, each on top of those before it. */
  readonly stacked: readonly (readonly number[])[];
}

export function spendSeries({ from, to, bucket_seconds: step, groups, buckets }: Spend): SpendSeries {
  const [begin, end] = [Date.parse(from) / 1_000, Date.parse(to) / 1_000];
  const times = Array.from(
    { length: Math.max(0, Math.round((end - begin) / step)) },
    (_, i) => begin + i * step,
  );
  const places = new Map(groups.map((group, at) => [keyOf(group), at]));
  const amounts = groups.map(() => times.map(() => 0));
  for (const bucket of buckets) {
    const row = amounts[places.get(keyOf(bucket)) ?? -1];
    const at = Math.round((Date.parse(bucket.at) / 1_000 - begin) / step);
    if (row !== undefined && at in row) row[at] = bucket.cost_nano_usd / 1e9;
  }
  const below = times.map(() => 0);
  const stacked = amounts.map((row) =>
    row.map((amount, at) => {
      below[at] = (below[at] ?? 0) + amount;
      return below[at];
    }),
  );
  return { times, amounts, stacked };
}

function keyOf({ kind, name }: Group): string {
  return `${kind} ${name}`;
}

export function groupLabel({ kind, name }: Group, by: Spend['by']): string {
  if (kind === 'named') return name;
  if (kind === 'others') return 'All others';
  return by === 'key' ? 'Keys of conversations' : `No ${by}`;
}
