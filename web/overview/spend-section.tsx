/**
 * Spend over time: by what, over which span, as a picture and as figures.
 * Owns the choice, which is in the address, and the table; the picture is loaded when the page is opened.
 */
import { lazy, type ReactElement, Suspense, useCallback } from 'react';
import { Loaded } from '../components/parts.tsx';
import { figures, head, Table, text } from '../components/table.tsx';
import { usePolled } from '../data/use-polled.ts';
import { FilterBar } from '../lists/filter-bar.tsx';
import { choice, type FilterField } from '../lists/filter-field.ts';
import { useListState } from '../lists/use-list-state.ts';
import { useSession } from '../session/session.ts';
import { usdOfNano } from '../text/money.ts';
import { parsedInstant, utc } from '../text/time.ts';
import { CALLS, COST, INPUT, OUTPUT } from './call-columns.tsx';
import { groupLabel, type Spend } from './spend-series.ts';

const SpendChart = lazy(async () => ({ default: (await import('./spend-chart.tsx')).SpendChart }));

const EVERY_MS = 15_000;
const HOUR_MS = 3_600_000;
const FIRST = { by: 'model', span: '7' };
const DIMENSIONS = ['model', 'user', 'team', 'tag', 'key'] as const;

const FIELDS: readonly FilterField<keyof typeof FIRST>[] = [
  choice(
    'by',
    'By',
    DIMENSIONS.map((one) => [one, `By ${one}`]),
  ),
  choice('span', 'Span', [
    ['1', 'Last 24 hours'],
    ['2', 'Last 48 hours'],
    ['7', 'Last 7 days'],
    ['30', 'Last 30 days'],
    ['90', 'Last 90 days'],
    ['365', 'Last 365 days'],
  ]),
];

export function SpendSection(): ReactElement {
  const { client } = useSession();
  const state = useListState(FIRST);
  const by = DIMENSIONS.find((one) => one === state.filter.by) ?? 'model';
  const days = Math.min(365, Math.max(1, Number(state.filter.span) || 7));
  const ask = useCallback(
    (signal: AbortSignal) => {
      const from = new Date(Date.now() - days * 24 * HOUR_MS).toISOString();
      return client.getSpend({ query: { by, from } }, { signal });
    },
    [client, by, days],
  );
  return (
    <section className="stack" aria-labelledby="spend">
      <h2 id="spend">Spend</h2>
      <FilterBar
        label="Spend"
        fields={FIELDS}
        values={state.filter}
        onChange={(change) => state.setFilter(change)}
      />
      <Loaded
        of={usePolled(ask, EVERY_MS)}
        isEmpty={({ total }) => total.calls === 0}
        none={<p>No model was called in this time.</p>}
      >
        {(spend) => (
          <>
            <Suspense fallback={<p className="quiet">Loading the picture …</p>}>
              <SpendChart spend={spend} />
            </Suspense>
            <Groups spend={spend} />
            <Times spend={spend} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Groups({ spend: { by, groups, total } }: { readonly spend: Spend }): ReactElement {
  const all = `All${by === 'tag' ? ', each call once' : ''}`;
  const name = head(by.charAt(0).toUpperCase() + by.slice(1), (row: Spend['total'], at) => {
    const group = row === total ? undefined : groups[at];
    if (group === undefined) return all;
    return (
      <>
        <span className={`swatch series-${at}`} aria-hidden="true" /> {groupLabel(group, by)}
      </>
    );
  });
  return (
    <Table
      label={`Spend by ${by}`}
      columns={[name, CALLS, INPUT, OUTPUT, COST]}
      rows={[...groups, total]}
      keyOf={(_, at) => at}
    />
  );
}

type Bucket = Spend['buckets'][number];

/** What the picture shows, as figures. */
function Times({ spend }: { readonly spend: Spend }): ReactElement {
  const isHourly = spend.bucket_seconds < 86_400;
  return (
    <details>
      <summary>{isHourly ? 'By hour' : 'By day'}, as figures</summary>
      <Table
        label="Spend over time"
        columns={[
          head(isHourly ? 'Hour' : 'Day (UTC)', ({ at }) => (
            <time dateTime={at} title={utc(parsedInstant(at))}>
              {isHourly ? new Date(at).toLocaleString() : at.slice(0, 10)}
            </time>
          )),
          text(spend.by, (bucket: Bucket) => groupLabel(bucket, spend.by)),
          figures('Calls', ({ calls }) => calls.toLocaleString()),
          figures('Cost', (bucket: Bucket) => usdOfNano(bucket.cost_nano_usd)),
        ]}
        rows={spend.buckets}
        keyOf={({ at, kind, name }) => `${at} ${kind} ${name}`}
      />
    </details>
  );
}
