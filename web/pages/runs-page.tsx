/**
 * All runs, newest first and live: how far each is, and what it has spent.
 * Owns the list.
 */
import { useCallback, type ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Progress } from '../components/progress.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { phaseOf } from '../run/run-phase.ts';
import type { RunRecord } from '../run/run-types.ts';
import { useSession } from '../session/session.ts';
import { usdOfNano } from '../text/money.ts';

const COLUMNS: readonly Column[] = ['Run', 'Phase', 'Items', { name: 'Spend', holds: 'figures' }, 'Started'];

export function RunsPage(): ReactElement {
  const { client } = useSession();
  const ask = useCallback((signal: AbortSignal) => client.searchRuns({}, { signal }), [client]);
  const { value, problem } = usePolled(ask);
  const rows = value?.items ?? [];
  return (
    <>
      <PageHead title="Runs">Jobs that were begun with “parley run”, and what they have spent.</PageHead>
      {rows.length > 0 && problem !== null ? <Notice tone="bad">{problem}</Notice> : null}
      {rows.length === 0 ? (
        <Empty isLoading={value === null} problem={problem}>
          <p>No run yet. A job file describes one, and “parley run” begins it.</p>
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
