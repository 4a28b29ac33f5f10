/**
 * The history of one job: its last runs, and what each of its items came to in them.
 * Owns the page; what is flaky is said by the server.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { PageHead } from '../components/page-head.tsx';
import { Badge, Loaded, When } from '../components/parts.tsx';
import { figures, Table } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { phaseOf } from '../run/run-phase.ts';
import { usdOfNano } from '../text/money.ts';
import { duration } from '../text/time.ts';
import { labelOf } from '../text/words.ts';

type History = ResultOf<'get_job_history'>;

/** It is reckoned anew from every item of every run. */
const EVERY_MS = 15_000;

export function JobPage({ name }: { readonly name: string }): ReactElement {
  const history = useAnswer('getJobHistory', { params: { job_name: name }, query: {} }, EVERY_MS);
  const { value } = history;
  return (
    <>
      <PageHead title={`Job ${name}`}>
        <Link to={{ page: 'runs' }}>Runs</Link>
        {value === null ? null : (
          <span>
            {value.keys_total} items in{' '}
            {value.runs.length === 1 ? 'one run' : `the last ${value.runs.length} runs`}, {value.keys_flaky}{' '}
            of them flaky
          </span>
        )}
      </PageHead>
      <Loaded
        of={history}
        isEmpty={({ runs }) => runs.length === 0}
        none={<p>No run of this job was begun.</p>}
      >
        {(read) => (
          <>
            <PastRuns runs={read.runs} />
            <Keys history={read} />
          </>
        )}
      </Loaded>
    </>
  );
}

const RUN_COLUMNS = ['Run', 'Phase', ...['Succeeded', 'Cost', 'Time'].map(figures), 'Started', 'Compare'];

function PastRuns({ runs }: Pick<History, 'runs'>): ReactElement {
  return (
    <section aria-label="Runs">
      <h2>Runs</h2>
      <Table label="Table of runs" columns={RUN_COLUMNS}>
        {runs.map(({ run, duration_ms: ms, success_share: share }, at) => (
          <tr key={run.id}>
            <th scope="row">
              <Link to={{ page: 'run', id: run.id }}>{run.id}</Link>
            </th>
            <td>
              <Badge word={phaseOf(run)} />
            </td>
            <td className="number">{share === null ? '—' : percent(share)}</td>
            <td className="number">{usdOfNano(run.spent_nano_usd)}</td>
            <td className="number">{duration(ms)}</td>
            <td>
              <When at={run.created_at} />
            </td>
            <td>
              <Before id={run.id} before={runs[at + 1]?.run.id} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Before({ id, before }: { readonly id: string; readonly before: string | undefined }): ReactElement {
  if (before === undefined) return <span className="quiet">the first</span>;
  return <Link to={{ page: 'comparison', id, before }}>with the one before</Link>;
}

const KEY_COLUMNS = ['Item', 'Newest first', ...['Succeeded', 'Mean cost', 'Mean time'].map(figures)];

function Keys({ history }: { readonly history: History }): ReactElement {
  const { keys, keys_total: total } = history;
  return (
    <section aria-label="Items">
      <h2>Items</h2>
      <Table label="Table of items" columns={KEY_COLUMNS}>
        {keys.map((one) => (
          <tr key={one.key}>
            <th scope="row">
              {one.key} {one.is_flaky ? <span className="tag">Flaky</span> : null}
            </th>
            <td>{one.outcomes.map(({ outcome }) => labelOf(outcome ?? 'open')).join(', ')}</td>
            <td className="number">
              {one.succeeded} of {one.ended}
            </td>
            <td className="number">{one.mean_nano_usd === null ? '—' : usdOfNano(one.mean_nano_usd)}</td>
            <td className="number">{one.mean_ms === null ? '—' : duration(one.mean_ms)}</td>
          </tr>
        ))}
      </Table>
      {keys.length < total ? (
        <p className="quiet">
          {keys.length} of {total} items are shown: the flaky ones, and those that succeed least.
        </p>
      ) : null}
    </section>
  );
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
