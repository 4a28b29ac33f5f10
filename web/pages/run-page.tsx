/**
 * One run: its sums, its items over time, what happened to it as a whole, and what can be asked of it.
 * Owns the asking; timeline and tables are in run/.
 */
import { useCallback, type ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { ItemsSection } from '../run/items-section.tsx';
import { phaseOf, reasonText, troubleText } from '../run/run-phase.ts';
import { RunControls } from '../run/run-controls.tsx';
import { RunEvents } from '../run/run-events.tsx';
import { RunReports } from '../run/run-reports.tsx';
import { RunSums } from '../run/run-sums.tsx';
import { Timeline } from '../run/timeline.tsx';
import { useSession } from '../session/session.ts';

export function RunPage({ id }: { readonly id: string }): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const params = { run_id: id };
      const [run, events] = await Promise.all([
        client.getRun({ params }, { signal }),
        client.listRunEvents({ params }, { signal }),
      ]);
      return { run, events };
    },
    [client, id],
  );
  const { value, problem, again } = usePolled(ask);
  const run = value?.run ?? null;
  return (
    <>
      <PageHead
        title={run?.name ?? 'Run'}
        actions={
          run === null ? undefined : (
            <>
              <Link to={{ page: 'report', id }} className="button">
                Report
              </Link>
              <RunReports run={run} />
              <RunControls run={run} onChange={again} />
            </>
          )
        }
      >
        <Link to={{ page: 'runs' }}>Runs</Link> <code>{id}</code>
        {run === null ? null : (
          <>
            <Badge word={phaseOf(run)} />
            <Link to={{ page: 'job', name: run.name }}>History of the job</Link>
          </>
        )}
      </PageHead>
      {value === null || run === null ? (
        <Empty isLoading={problem === null} problem={problem}>
          <p>There is no such run.</p>
        </Empty>
      ) : (
        <>
          {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
          {run.reason === null ? null : <Notice tone="wait">{reasonText(run)}</Notice>}
          {run.trouble === null ? null : <Notice tone="bad">{troubleText(run.trouble)}</Notice>}
          <RunSums run={run} />
          <ItemsSection run={run} above={(items) => <Timeline run={run} items={items} />} onChange={again} />
          <RunEvents events={value.events} />
        </>
      )}
    </>
  );
}
