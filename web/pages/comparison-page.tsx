/**
 * A run beside an earlier one: sums, and each item that is another than it was.
 * Owns the page; what is worse or better is said by the server.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { PageHead } from '../components/page-head.tsx';
import { Badge, Loaded } from '../components/parts.tsx';
import { type Column, figures, head, Table, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { usdOfNano } from '../text/money.ts';
import { duration, durationBetween } from '../text/time.ts';
import { labelOf } from '../text/words.ts';

type Comparison = ResultOf<'compare_run'>;
type Item = Comparison['items'][number];
type Side = Item['before'];

const EVERY_MS = 15_000;

interface ComparisonPageProps {
  readonly id: string;
  readonly before: string;
}

export function ComparisonPage({ id, before }: ComparisonPageProps): ReactElement {
  const input = { params: { run_id: id }, query: { before } };
  return (
    <>
      <PageHead title="Two runs compared">
        <Link to={{ page: 'run', id: before }}>{before}</Link> and <Link to={{ page: 'run', id }}>{id}</Link>
      </PageHead>
      <Loaded of={useAnswer('compareRun', input, EVERY_MS)}>
        {(comparison) => (
          <>
            <Sums of={comparison} />
            <Items of={comparison} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Sums({ of: { before, after, counts } }: { readonly of: Comparison }): ReactElement {
  const rows = [
    ['Spend', usdOfNano(before.spent_nano_usd), usdOfNano(after.spent_nano_usd)],
    ['Time', timeOf(before), timeOf(after)],
    ['Succeeded', before.ended['succeeded'] ?? 0, after.ended['succeeded'] ?? 0],
    ['Items', before.total, after.total],
  ] as const;
  return (
    <>
      <p>
        {Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([verdict, count]) => `${count} ${verdict}`)
          .join(', ')}
      </p>
      <Table label="Table of sums" columns={SUM_COLUMNS} rows={rows} keyOf={([name]) => name} />
    </>
  );
}

function timeOf({ created_at: from, ended_at: until }: Comparison['before']): string {
  return durationBetween(from, until);
}

const SUM_COLUMNS: readonly Column<readonly [name: string, was: string | number, is: string | number]>[] = [
  head('Sum', ([name]) => name),
  figures('Before', ([, was]) => was),
  figures('After', ([, , is]) => is),
];

const ITEM_COLUMNS: readonly Column<Item>[] = [
  head('Item', ({ key }) => key),
  text('Verdict', ({ verdict }) => labelOf(verdict)),
  text('Before', ({ before }) => outcome(before)),
  text('After', ({ after }) => outcome(after)),
  figures('Cost before', ({ before }) => cost(before)),
  figures('Cost after', ({ after }) => cost(after)),
  figures('Time before', ({ before }) => time(before)),
  figures('Time after', ({ after }) => time(after)),
];

function Items({ of: { items, counts } }: { readonly of: Comparison }): ReactElement {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return (
    <section aria-label="Items">
      <h2>Items</h2>
      <Table label="Table of items" columns={ITEM_COLUMNS} rows={items} keyOf={({ key }) => key} />
      {items.length < total ? (
        <p className="quiet">
          {items.length} of {total} items are shown, what is worse first.
        </p>
      ) : null}
    </section>
  );
}

function outcome(side: Side): ReactElement {
  if (side === null) return <span className="quiet">not in it</span>;
  return <Badge word={side.outcome ?? 'open'} />;
}

function cost(side: Side): string {
  const nanoUsd = side?.cost_nano_usd ?? null;
  return nanoUsd === null ? '—' : usdOfNano(nanoUsd);
}

function time(side: Side): string {
  const ms = side?.duration_ms ?? null;
  return ms === null ? '—' : duration(ms);
}
