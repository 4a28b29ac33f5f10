/**
 * Slots in use, by user, who waits for one and why, and the warm pool.
 * Owns the figures; whose turn it is, is the server's to say.
 */
import { type ReactElement, useCallback, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { Sum } from '../components/sum.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Listing } from '../lists/listing.tsx';
import { pageQuery } from '../lists/page-query.ts';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';

type Capacity = ResultOf<'get_capacity'>;
type Waiting = ResultOf<'search_waiting'>['items'][number];

const ON_FULL: Readonly<Record<Capacity['on_full'], string>> = {
  refuse: 'a start is refused',
  queue: 'a start waits',
  pause_longest_idle: 'the sandbox that rests longest is paused',
};

export function CapacitySection(): ReactElement {
  const { client } = useSession();
  const ask = useCallback((signal: AbortSignal) => client.getCapacity({}, { signal }), [client]);
  const { value, problem } = usePolled(ask);
  return (
    <section className="stack" aria-labelledby="capacity">
      <h2 id="capacity">Capacity</h2>
      {value === null ? (
        <Empty isLoading={problem === null} problem={problem}>
          {null}
        </Empty>
      ) : (
        <>
          {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
          <Figures capacity={value} />
          {value.waiting === 0 ? null : <WaitingList />}
        </>
      )}
    </section>
  );
}

function Figures({ capacity }: { readonly capacity: Capacity }): ReactElement {
  const { installation, users, waiting, on_full: onFull, warm_pool: warm } = capacity;
  return (
    <>
      <dl className="sums">
        <Sum name="Slots in use">
          {installation.taken} of {installation.max}
          <small>when all are taken, {ON_FULL[onFull]}</small>
        </Sum>
        <Sum name="Waiting for a slot">{waiting}</Sum>
        {warm === null ? null : (
          <Sum name="Warm pool">
            {warm.ready} of {warm.wanted} ready
            <small>
              {warm.booting} booting, {warm.leaving} leaving
            </small>
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

const COLUMNS: readonly Column[] = [{ name: 'Place', holds: 'figures' }, 'Who', 'User', 'Why', 'Asked'];
const PAGE_ROWS = 20;

function WaitingList(): ReactElement {
  const { client } = useSession();
  const { pageId, state } = usePages();
  const ask = useCallback(
    (signal: AbortSignal) => {
      return client.searchWaiting({ query: pageQuery(pageId, PAGE_ROWS) }, { signal });
    },
    [client, pageId],
  );
  return (
    <Listing
      label="Waiting for a slot"
      polled={usePolled(ask)}
      state={state}
      empty={<p>Nobody that you see waits.</p>}
      none="Nobody waits here."
    >
      {(rows) => (
        <Table columns={COLUMNS}>
          {rows.map((row) => (
            <tr key={row.id}>
              <td className="number">{row.position ?? 'next'}</td>
              <th scope="row">
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
              </th>
              <td>{row.user_id}</td>
              <td>{REASONS[row.reason]}</td>
              <td>
                <When at={row.asked_at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Listing>
  );
}

/** The page of a list that is one of several on a page of the console, and so has no place in the address. */
function usePages() {
  const [pages, setPages] = useState<readonly string[]>([]);
  const pageId = pages.at(-1);
  const state = { isFiltered: false, pages, setPages, clear: () => setPages([]) };
  return { pageId, state };
}
