/**
 * One run: its sums, its items over time, what happened to it as a whole, and what can be asked of it.
 * Owns the asking; timeline and tables are in run/.
 */
import { type ReactElement, useCallback } from 'react';
import { PageHead } from '../components/page-head.tsx';
import { Badge, Loaded, Notice } from '../components/parts.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { ItemsSection } from '../run/items-section.tsx';
import { RunControls } from '../run/run-controls.tsx';
import { RunEvents, RunSums } from '../run/run-sums.tsx';
import { phaseOf, reasonText, troubleText } from '../run/run-phase.ts';
import { RunReports } from '../run/run-reports.tsx';
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
  const polled = usePolled(ask);
  const { value, again } = polled;
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
      <Loaded of={polled}>
        {({ run: read, events }) => (
          <>
            {read.reason === null ? null : <Notice tone="wait">{reasonText(read)}</Notice>}
            {read.trouble === null ? null : <Notice tone="bad">{troubleText(read.trouble)}</Notice>}
            <RunSums run={read} />
            <ItemsSection
              run={read}
              above={(items) => <Timeline run={read} items={items} />}
              onChange={again}
            />
            <RunEvents events={events} />
          </>
        )}
      </Loaded>
    </>
  );
}
