/**
 * The items of a run, page by page, as the server filters and orders them.
 * Owns the asking; a row is drawn by the table.
 */
import { useCallback, useState, type ReactElement, type ReactNode } from 'react';
import { usePolled } from '../data/use-polled.ts';
import { Listing } from '../lists/listing.tsx';
import { pageQuery } from '../lists/page-query.ts';
import { useSession } from '../session/session.ts';
import { ItemFilters, NO_FILTER, queryOf } from './item-filters.tsx';
import { ItemTable, type ItemSort } from './item-table.tsx';
import type { RunItem, RunRecord } from './run-types.ts';

const IN_ORDER: ItemSort = { by: 'POSITION', descending: false };

export interface ItemsSectionProps {
  readonly run: RunRecord;
  /** What stands above the table, about the items of its page; absent: nothing. */
  above?(items: readonly RunItem[]): ReactNode;
  onChange(): void;
}

export function ItemsSection({ run, above, onChange }: ItemsSectionProps): ReactElement {
  const { client } = useSession();
  const [filter, setFilter] = useState(NO_FILTER);
  const [sort, setSort] = useState(IN_ORDER);
  const [pages, setPages] = useState<readonly string[]>([]);
  const pageId = pages.at(-1);
  const { id } = run;
  const ask = useCallback(
    (signal: AbortSignal) =>
      client.searchRunItems(
        {
          params: { run_id: id },
          query: {
            ...pageQuery(pageId),
            ...{ sort_order: sort.by, descending: sort.descending ? 'true' : 'false' },
            ...queryOf(filter),
          },
        },
        { signal },
      ),
    [client, id, filter, sort, pageId],
  );
  const polled = usePolled(ask);
  const items = polled.value?.items ?? [];
  const changeFilter = (changed: typeof NO_FILTER): void => {
    setFilter(changed);
    setPages([]);
  };
  const isFiltered = Object.values(filter).some((text) => text !== '');
  return (
    <>
      {above?.(items)}
      <section aria-label="Items" className="stack">
        <h2>Items</h2>
        <ItemFilters filter={filter} onChange={changeFilter} />
        <Listing
          label="Items"
          polled={polled}
          state={{ isFiltered, pages, setPages, clear: () => changeFilter(NO_FILTER) }}
          empty={<p>The run has no item yet.</p>}
          none="No item is so."
        >
          {(rows) => (
            <ItemTable
              run={run}
              items={rows}
              sort={sort}
              onSort={(wanted) => {
                setSort(wanted);
                setPages([]);
              }}
              onChange={() => {
                polled.again();
                onChange();
              }}
            />
          )}
        </Listing>
      </section>
    </>
  );
}
