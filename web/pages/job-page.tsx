/**
 * The history of one job: its last runs, and what each of its items came to in them.
 * Owns the page; what is flaky is said by the server.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { PageHead } from '../components/page-head.tsx';
import { Badge, Loaded, When } from '../components/parts.tsx';
import { type Column, figures, head, Table, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { phaseOf } from '../run/run-phase.ts';
import { usdOfNano } from '../text/money.ts';
import { duration } from '../text/time.ts';
import { labelOf } from '../text/words.ts';

type History = ResultOf<'get_job_history'>;
type PastRun = History['runs'][number];

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

const RUN_COLUMNS: readonly Column<PastRun>[] = [
  head('Run', ({ run: { id } }) => <Link to={{ page: 'run', id }}>{id}</Link>),
  text('Phase', ({ run }) => <Badge word={phaseOf(run)} />),
  figures('Succeeded', ({ success_share: share }) => (share === null ? '—' : percent(share))),
  figures('Cost', ({ run }) => usdOfNano(run.spent_nano_usd)),
  figures('Time', ({ duration_ms: ms }) => duration(ms)),
  text('Started', ({ run }) => <When at={run.created_at} />),
];

function PastRuns({ runs }: Pick<History, 'runs'>): ReactElement {
  const compare = text('Compare', ({ run: { id } }: PastRun, at) => (
    <Before id={id} before={runs[at + 1]?.run.id} />
  ));
  return (
    <section aria-label="Runs">
      <h2>Runs</h2>
      <Table
        label="Table of runs"
        columns={[...RUN_COLUMNS, compare]}
        rows={runs}
        keyOf={({ run: { id } }) => id}
      />
    </section>
  );
}

function Before({ id, before }: { readonly id: string; readonly before: string | undefined }): ReactElement {
  if (before === undefined) return <span className="quiet">the first</span>;
  return <Link to={{ page: 'comparison', id, before }}>with the one before</Link>;
}

const KEY_COLUMNS: readonly Column<History['keys'][number]>[] = [
  head('Item', ({ key, is_flaky: isFlaky }) => (
    <>
      {key} {isFlaky ? <span className="tag">Flaky</span> : null}
    </>
  )),
  text('Newest first', ({ outcomes }) =>
    outcomes.map(({ outcome }) => labelOf(outcome ?? 'open')).join(', '),
  ),
  figures('Succeeded', ({ succeeded, ended }) => `${succeeded} of ${ended}`),
  figures('Mean cost', ({ mean_nano_usd: mean }) => (mean === null ? '—' : usdOfNano(mean))),
  figures('Mean time', ({ mean_ms: mean }) => (mean === null ? '—' : duration(mean))),
];

function Keys({ history }: { readonly history: History }): ReactElement {
  const { keys, keys_total: total } = history;
  return (
    <section aria-label="Items">
      <h2>Items</h2>
      <Table label="Table of items" columns={KEY_COLUMNS} rows={keys} keyOf={({ key }) => key} />
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
