/**
 * One run: its sums, its items over time, and what happened to it as a whole.
 * Owns the asking; timeline and tables are in run/.
 */
import { useCallback, type ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { ItemTable } from '../run/item-table.tsx';
import { phaseOf, reasonText, troubleText } from '../run/run-phase.ts';
import { RunEvents } from '../run/run-events.tsx';
import { RunSums } from '../run/run-sums.tsx';
import { Timeline } from '../run/timeline.tsx';
import { useSession } from '../session/session.ts';

export function RunPage({ id }: { readonly id: string }): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const params = { run_id: id };
      const [run, items, events] = await Promise.all([
        client.getRun({ params }, { signal }),
        client.searchRunItems({ params }, { signal }),
        client.listRunEvents({ params }, { signal }),
      ]);
      return { run, items: items.items, hasMore: items.next_page_id !== null, events };
    },
    [client, id],
  );
  const { value, problem } = usePolled(ask);
  return (
    <>
      <PageHead title={value?.run.name ?? 'Run'}>
        <Link to={{ page: 'runs' }}>Runs</Link> <code>{id}</code>
        {value === null ? null : <Badge word={phaseOf(value.run)} />}
      </PageHead>
      {value === null ? (
        <Empty isLoading={problem === null} problem={problem}>
          <p>There is no such run.</p>
        </Empty>
      ) : (
        <>
          {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
          {value.run.reason === null ? null : <Notice tone="wait">{reasonText(value.run)}</Notice>}
          {value.run.trouble === null ? null : <Notice tone="bad">{troubleText(value.run.trouble)}</Notice>}
          <RunSums run={value.run} />
          <Timeline run={value.run} items={value.items} />
          <ItemTable items={value.items} hasMore={value.hasMore} />
          <RunEvents events={value.events} />
        </>
      )}
    </>
  );
}
