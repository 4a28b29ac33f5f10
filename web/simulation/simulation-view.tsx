/**
 * The result of one play of a job: its figures, the picture, and the same as a table.
 * Owns the wording; it is loaded when the user requests a play.
 */
import type { ReactElement } from 'react';
import { Notice, Sum } from '../components/parts.tsx';
import { figures, Table, text } from '../components/table.tsx';
import { usdOfNano } from '../text/money.ts';
import { duration } from '../text/time.ts';
import { labelOf } from '../text/words.ts';
import { SimulationChart } from './simulation-chart.tsx';
import {
  ACTIVITY_LABELS,
  type Instant,
  instantsOf,
  limitSentences,
  type Simulation,
  STACK,
} from './simulation-series.ts';

/** As many rows as are read without scrolling much. */
const ROWS = 21;

export function SimulationView({ of }: { readonly of: Simulation }): ReactElement {
  if (of.conversations === 0)
    return (
      <div className="empty card">
        <p>Nothing of it can be played: all conversations come from results of others.</p>
      </div>
    );
  return (
    <div className="stack played">
      <Caveats of={of} />
      <Figures of={of} />
      <SimulationChart of={of} />
      <Rows of={of} />
    </div>
  );
}

function Caveats({ of }: { readonly of: Simulation }): ReactElement {
  const { cut_at_ms: cutMs, makespan_ms: makespanMs, left_out: keys, left_out_count: count } = of;
  return (
    <>
      {cutMs === null || makespanMs !== null ? null : (
        <Notice tone="wait">
          Playing it took too long: this is how it stands after {duration(cutMs)}. parley simulate plays the
          whole of it.
        </Notice>
      )}
      {count === 0 ? null : (
        <Notice tone="calm">
          Left out, because their conversations are known once others have ended: {keys.join(', ')}
          {count > keys.length ? ` and ${count - keys.length} more` : ''}.
        </Notice>
      )}
    </>
  );
}

function Figures({ of }: { readonly of: Simulation }): ReactElement {
  const {
    makespan_ms: makespanMs,
    makespan_bound_ms: boundMs,
    queued_ms: queued,
    conversation_ms: each,
  } = of;
  const open = of.conversations - Object.values(of.ended).reduce((sum, one) => sum + one, 0);
  const ended = Object.entries(of.ended).map(([word, count]) => `${labelOf(word)} ${count.toLocaleString()}`);
  const half = (spread: Simulation['queued_ms']): string =>
    spread === null ? '' : `half of them; at most ${duration(spread.max)}`;
  const sums = [
    [
      'Time',
      makespanMs === null ? 'does not end' : duration(makespanMs),
      boundMs === null ? notEnded(open) : `at the least ${duration(boundMs)} for the same work`,
    ],
    ['Cost', usdOfNano(of.cost_nano_usd), 'of an agent that is made up'],
    [
      'Sandboxes at once',
      of.sandboxes_peak.toLocaleString(),
      `of ${of.sandboxes_max.toLocaleString()} allowed, first after ${duration(of.sandboxes_peak_at_ms)}`,
    ],
    ['Waiting', queued === null ? 'nobody' : duration(queued.p50), half(queued)],
    ['A conversation', each === null ? 'none ends' : duration(each.p50), half(each)],
    [
      'Ends',
      ended[0] ?? 'None',
      [...ended.slice(1), ...(open === 0 ? [] : [notEnded(open)]), ...limitSentences(of)].join(', '),
    ],
  ] as const;
  return (
    <dl className="sums">
      {sums.map(([name, value, note]) => (
        <Sum key={name} name={name} note={note}>
          {value}
        </Sum>
      ))}
    </dl>
  );
}

function notEnded(open: number): string {
  return `${open.toLocaleString()} have not ended`;
}

/** What the picture shows, as figures. */
function Rows({ of }: { readonly of: Simulation }): ReactElement {
  return (
    <details>
      <summary>The timeline, as figures</summary>
      <Table
        label="Timeline as figures"
        columns={[
          { ...text('After', ({ atMs }) => duration(atMs), 'played-after'), isHead: true },
          ...STACK.toReversed().map((as) =>
            figures(ACTIVITY_LABELS[as], ({ counts }: Instant) => counts[as].toLocaleString()),
          ),
          figures('Sandboxes', ({ slots }) => slots.toLocaleString()),
        ]}
        rows={instantsOf(of, ROWS)}
        keyOf={({ atMs }) => atMs}
      />
    </details>
  );
}
