/**
 * Slots in use, by user, who waits for one and why, and the warm pool.
 * Owns the figures; whose turn it is, is the server's to say.
 */
import { type ReactElement, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Loaded, Sum, When } from '../components/parts.tsx';
import { type Column, figures, head, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Listing } from '../lists/listing.tsx';
import { pageQuery } from '../lists/use-list-state.ts';
import { Link } from '../routing/link.tsx';

type Capacity = ResultOf<'get_capacity'>;
type Waiting = ResultOf<'search_waiting'>['items'][number];

const ON_FULL: Readonly<Record<Capacity['on_full'], string>> = {
  refuse: 'a start is refused',
  queue: 'a start waits',
  pause_longest_idle: 'the sandbox that rests longest is paused',
};

export function CapacitySection(): ReactElement {
  return (
    <section className="stack" aria-labelledby="capacity">
      <h2 id="capacity">Capacity</h2>
      <Loaded of={useAnswer('getCapacity', {})}>
        {(capacity) => (
          <>
            <Figures capacity={capacity} />
            {capacity.waiting === 0 ? null : <WaitingList />}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Figures({ capacity }: { readonly capacity: Capacity }): ReactElement {
  const { installation, users, waiting, on_full: onFull, warm_pool: warm } = capacity;
  return (
    <>
      <dl className="sums">
        <Sum name="Slots in use" note={`when all are taken, ${ON_FULL[onFull]}`}>
          {installation.taken} of {installation.max}
        </Sum>
        <Sum name="Waiting for a slot">{waiting}</Sum>
        {warm === null ? null : (
          <Sum name="Warm pool" note={`${warm.booting} booting, ${warm.leaving} leaving`}>
            {warm.ready} of {warm.wanted} ready
          </Sum>
        )}
      </dl>
      <ul className="card holders" aria-label="Slots by user">
        {users.map(({ user_id: id, taken, max }) => (
          <li key={id}>
            <span className="wrap">{id}</span>
            <meter
              aria-label={`Slots of ${id}`}
              min={0}
              max={Math.max(1, max)}
              value={Math.min(taken, max)}
            />
            <span>
              {taken} of {max}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const REASONS: Readonly<Record<Waiting['reason'], string>> = {
  user_limit: 'its user has all its slots',
  installation_limit: 'all slots of the installation are taken',
  has_its_turn: 'it has its turn now',
};

const COLUMNS: readonly Column<Waiting>[] = [
  figures('Place', ({ position }) => position ?? 'next'),
  head('Who', (row) => (
    <>
      {row.kind === 'conversation' ? (
        <Link to={{ page: 'conversation', id: row.id }}>{row.title ?? row.id.slice(0, 8)}</Link>
      ) : (
        <>
          sandbox <code>{row.id.slice(0, 8)}</code>
        </>
      )}
      {row.run_id === null ? null : (
        <div className="below">
          <Link to={{ page: 'run', id: row.run_id }}>{row.run_id}</Link>
        </div>
      )}
    </>
  )),
  text('User', (row) => row.user_id),
  text('Why', ({ reason }) => REASONS[reason]),
  text('Asked', (row) => <When at={row.asked_at} />),
];
const PAGE_ROWS = 20;

function WaitingList(): ReactElement {
  // One of several lists on a page of the console has no place in the address.
  const [pages, setPages] = useState<readonly string[]>([]);
  const state = { isFiltered: false, pages, setPages, clear: () => setPages([]) };
  return (
    <Listing
      label="Waiting for a slot"
      polled={useAnswer('searchWaiting', { query: pageQuery(pages.at(-1), PAGE_ROWS) })}
      state={state}
      empty={<p>Nobody that you see waits.</p>}
      none="Nobody waits here."
      columns={COLUMNS}
      keyOf={({ id }) => id}
    />
  );
}
