/**
 * All runs, newest first and live: how far each is, and what it has spent.
 * Owns the list.
 */
import type { ReactElement } from 'react';
import { PageHead } from '../components/page-head.tsx';
import { Badge, When } from '../components/parts.tsx';
import { type Column, figures, head, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { choice, type FilterField } from '../lists/filter-field.ts';
import { FilteredListing } from '../lists/listing.tsx';
import { pageQuery, useListState } from '../lists/use-list-state.ts';
import { Link } from '../routing/link.tsx';
import { phaseOf, type RunRecord } from '../run/run-phase.ts';
import { usdOfNano } from '../text/money.ts';

const FIRST = { name: '', state: '' };

const FIELDS: readonly FilterField<'name' | 'state'>[] = [
  { name: 'name', label: 'Name of the job', kind: 'text' },
  choice('state', 'State', [
    ['', 'All runs'],
    ['open', 'Those that go on'],
    ['finished', 'Those that have ended'],
  ]),
];

const COLUMNS: readonly Column<RunRecord>[] = [
  head('Run', ({ id, name }) => (
    <>
      <Link to={{ page: 'run', id }}>{name}</Link>
      <div className="below">
        <code>{id}</code>
      </div>
    </>
  )),
  text('Phase', (row) => <Badge word={phaseOf(row)} />),
  text('Items', (row) => <Progress of={row} />),
  figures('Spend', (row) => usdOfNano(row.spent_nano_usd)),
  text('Started', (row) => <When at={row.created_at} />),
];

export function RunsPage(): ReactElement {
  const state = useListState(FIRST);
  const { name, state: wanted } = state.filter;
  const query = {
    ...pageQuery(state.pageId),
    ...(wanted === 'open' || wanted === 'finished' ? ({ state: wanted } as const) : {}),
    ...(name === '' ? {} : { name: name.slice(0, 64) }),
  };
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
      <FilteredListing
        label="Runs"
        fields={FIELDS}
        polled={useAnswer('searchRuns', { query })}
        state={state}
        empty={<p>No run yet. A job file describes one; “Start a run” or “parley run” begins it.</p>}
        none="No run is so."
        columns={COLUMNS}
        keyOf={({ id }) => id}
      />
    </>
  );
}

const WIDTH = 120;

/** How many of a run's items have ended and are at work; the same is said in words beside it. */
function Progress({ of: { ended, in_flight: active, total } }: { readonly of: RunRecord }): ReactElement {
  const done = Object.values(ended).reduce((sum, count) => sum + count, 0);
  const scale = total === 0 ? 0 : WIDTH / total;
  return (
    <span className="progress">
      <svg viewBox={`0 0 ${WIDTH} 6`} width={WIDTH} height={6} aria-hidden="true">
        <rect className="progress-all" width={WIDTH} height={6} rx={3} />
        <rect className="progress-active" width={(done + active) * scale} height={6} rx={3} />
        <rect className="progress-done" width={done * scale} height={6} rx={3} />
      </svg>
      <span>
        {done} of {total}
        {active === 0 ? '' : `, ${active} at work`}
      </span>
    </span>
  );
}
