/**
 * All runs, newest first and live: how far each is, and what it has spent.
 * Owns the list.
 */
import { useCallback, type ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Progress } from '../components/progress.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { FilterBar } from '../lists/filter-bar.tsx';
import type { FilterField } from '../lists/filter-field.ts';
import { Listing } from '../lists/listing.tsx';
import { pageQuery } from '../lists/page-query.ts';
import { useListState } from '../lists/use-list-state.ts';
import { Link } from '../routing/link.tsx';
import { phaseOf } from '../run/run-phase.ts';
import type { RunRecord } from '../run/run-types.ts';
import { useSession } from '../session/session.ts';
import { usdOfNano } from '../text/money.ts';

const FIRST = { name: '', state: '' };

const FIELDS: readonly FilterField<'name' | 'state'>[] = [
  { name: 'name', label: 'Name of the job', kind: 'text' },
  {
    name: 'state',
    label: 'State',
    kind: 'choice',
    choices: [
      ['', 'All runs'],
      ['open', 'Those that go on'],
      ['finished', 'Those that have ended'],
    ],
  },
];

const COLUMNS: readonly Column[] = ['Run', 'Phase', 'Items', { name: 'Spend', holds: 'figures' }, 'Started'];

export function RunsPage(): ReactElement {
  const { client } = useSession();
  const state = useListState(FIRST);
  const { filter } = state;
  const pageId = state.pageId;
  const ask = useCallback(
    (signal: AbortSignal) =>
      client.searchRuns(
        {
          query: {
            ...pageQuery(pageId),
            ...(filter.state === 'open' || filter.state === 'finished' ? { state: filter.state } : {}),
            ...(filter.name === '' ? {} : { name: filter.name.slice(0, 64) }),
          },
        },
        { signal },
      ),
    [client, pageId, filter],
  );
  return (
    <>
      <PageHead
        title="Runs"
        actions={
          <Link to={{ page: 'start-run' }} className="button button-primary">
            Start a run
          </Link>
        }
      >
        What was begun of job files, and what it has spent.
      </PageHead>
      <FilterBar
        label="Runs"
        fields={FIELDS}
        values={filter}
        onChange={(change) => state.setFilter(change)}
      />
      <Listing
        label="Runs"
        polled={usePolled(ask)}
        state={state}
        empty={<p>No run yet. A job file describes one; “Start a run” or “parley run” begins it.</p>}
        none="No run is so."
      >
        {(rows) => (
          <Table columns={COLUMNS}>
            {rows.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </Table>
        )}
      </Listing>
    </>
  );
}

function Row({ row }: { readonly row: RunRecord }): ReactElement {
  const ended = Object.values(row.ended).reduce((sum, count) => sum + count, 0);
  return (
    <tr>
      <th scope="row">
        <Link to={{ page: 'run', id: row.id }}>{row.name}</Link>
        <div className="below">
          <code>{row.id}</code>
        </div>
      </th>
      <td>
        <Badge word={phaseOf(row)} />
      </td>
      <td>
        <Progress done={ended} active={row.in_flight} total={row.total} />
      </td>
      <td className="number">{usdOfNano(row.spent_nano_usd)}</td>
      <td>
        <When at={row.created_at} />
      </td>
    </tr>
  );
}
