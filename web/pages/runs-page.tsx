/**
 * All runs, newest first and live: how far each is, and what it has spent.
 * Owns the list.
 */
import { useCallback, useState, type ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Pager } from '../components/pager.tsx';
import { Progress } from '../components/progress.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { phaseOf } from '../run/run-phase.ts';
import type { RunRecord } from '../run/run-types.ts';
import { useSession } from '../session/session.ts';
import { usdOfNano } from '../text/money.ts';

const PAGE_ROWS = 50;
const STATES = ['open', 'finished'] as const;
/** Empty: all. */
type State = '' | (typeof STATES)[number];

const COLUMNS: readonly Column[] = ['Run', 'Phase', 'Items', { name: 'Spend', holds: 'figures' }, 'Started'];

export function RunsPage(): ReactElement {
  const { client } = useSession();
  const [state, setState] = useState<State>('');
  const [pages, setPages] = useState<readonly string[]>([]);
  const pageId = pages.at(-1);
  const ask = useCallback(
    (signal: AbortSignal) =>
      client.searchRuns(
        {
          query: {
            limit: PAGE_ROWS,
            ...(pageId === undefined ? {} : { page_id: pageId }),
            ...(state === '' ? {} : { state }),
          },
        },
        { signal },
      ),
    [client, pageId, state],
  );
  const { value, problem } = usePolled(ask);
  const rows = value?.items ?? [];
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
      <StateField
        state={state}
        onChange={(chosen) => {
          setState(chosen);
          setPages([]);
        }}
      />
      {rows.length > 0 && problem !== null ? <Notice tone="bad">{problem}</Notice> : null}
      {rows.length === 0 ? (
        <Empty isLoading={value === null} problem={problem}>
          <p>
            {state === ''
              ? 'No run yet. A job file describes one; “Start a run” or “parley run” begins it.'
              : 'No run is in this state.'}
          </p>
        </Empty>
      ) : (
        <div className="scroll card">
          <Table columns={COLUMNS}>
            {rows.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </Table>
        </div>
      )}
      <Pager pages={pages} next={value?.next_page_id ?? null} onChange={setPages} />
    </>
  );
}

interface StateFieldProps {
  readonly state: State;
  onChange(state: State): void;
}

function StateField({ state, onChange }: StateFieldProps): ReactElement {
  return (
    <div className="filters">
      <label className="inline">
        Show
        <select
          value={state}
          onChange={({ target }) => onChange(STATES.find((one) => one === target.value) ?? '')}
        >
          <option value="">all runs</option>
          <option value="open">those that go on</option>
          <option value="finished">those that have ended</option>
        </select>
      </label>
    </div>
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
