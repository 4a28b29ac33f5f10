/**
 * A run beside an earlier one: sums, and each item that is another than it was.
 * Owns the page; what is worse or better is said by the server.
 */
import { useCallback, type ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Scroll } from '../components/scroll.tsx';
import { Table, type Column } from '../components/table.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';
import { usdOfNano } from '../text/money.ts';
import { duration, parsedInstant } from '../text/time.ts';
import { labelOf } from '../text/words.ts';

type Comparison = ResultOf<'compare_run'>;
type Side = Comparison['items'][number]['before'];

const EVERY_MS = 15_000;
const TITLE = 'Two runs compared';

export function ComparisonPage({
  id,
  before,
}: {
  readonly id: string;
  readonly before: string;
}): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    (signal: AbortSignal) => client.compareRun({ params: { run_id: id }, query: { before } }, { signal }),
    [client, id, before],
  );
  const { value, problem } = usePolled(ask, EVERY_MS);
  return (
    <>
      <PageHead title={TITLE}>
        <Link to={{ page: 'run', id: before }}>{before}</Link> and <Link to={{ page: 'run', id }}>{id}</Link>
      </PageHead>
      {value === null ? (
        <Empty isLoading={problem === null} problem={problem}>
          <p>One of the two runs is not there.</p>
        </Empty>
      ) : (
        <>
          {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
          <Sums of={value} />
          <Items of={value} />
        </>
      )}
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
      <Scroll label="Table of sums">
        <Table columns={['Sum', { name: 'Before', holds: 'figures' }, { name: 'After', holds: 'figures' }]}>
          {rows.map(([name, was, is]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number">{was}</td>
              <td className="number">{is}</td>
            </tr>
          ))}
        </Table>
      </Scroll>
    </>
  );
}

function timeOf({ created_at: from, ended_at: until }: Comparison['before']): string {
  return duration((until === null ? Date.now() : parsedInstant(until)) - parsedInstant(from));
}

const ITEM_COLUMNS: readonly Column[] = [
  'Item',
  'Verdict',
  'Before',
  'After',
  { name: 'Cost before', holds: 'figures' },
  { name: 'Cost after', holds: 'figures' },
  { name: 'Time before', holds: 'figures' },
  { name: 'Time after', holds: 'figures' },
];

function Items({ of: { items, counts } }: { readonly of: Comparison }): ReactElement {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return (
    <section aria-label="Items">
      <h2>Items</h2>
      <Scroll label="Table of items">
        <Table columns={ITEM_COLUMNS}>
          {items.map(({ key, verdict, before, after }) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{labelOf(verdict)}</td>
              <td>{outcome(before)}</td>
              <td>{outcome(after)}</td>
              <td className="number">{cost(before)}</td>
              <td className="number">{cost(after)}</td>
              <td className="number">{time(before)}</td>
              <td className="number">{time(after)}</td>
            </tr>
          ))}
        </Table>
      </Scroll>
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
