/**
 * A run beside an earlier one: sums, and each item that is another than it was.
 * Owns the page; what is worse or better is said by the server.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { PageHead } from '../components/page-head.tsx';
import { Badge, Loaded } from '../components/parts.tsx';
import { figures, Table } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { usdOfNano } from '../text/money.ts';
import { duration, durationBetween } from '../text/time.ts';
import { labelOf } from '../text/words.ts';

type Comparison = ResultOf<'compare_run'>;
type Side = Comparison['items'][number]['before'];

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
      <Table label="Table of sums" columns={['Sum', figures('Before'), figures('After')]}>
        {rows.map(([name, was, is]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="number">{was}</td>
            <td className="number">{is}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function timeOf({ created_at: from, ended_at: until }: Comparison['before']): string {
  return durationBetween(from, until);
}

const ITEM_COLUMNS = [
  ...['Item', 'Verdict', 'Before', 'After'],
  ...['Cost before', 'Cost after', 'Time before', 'Time after'].map(figures),
];

function Items({ of: { items, counts } }: { readonly of: Comparison }): ReactElement {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return (
    <section aria-label="Items">
      <h2>Items</h2>
      <Table label="Table of items" columns={ITEM_COLUMNS}>
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
