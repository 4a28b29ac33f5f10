/**
 * The items of a run, page by page, as the server filters and orders them.
 * Owns the asking; a row is drawn by the table.
 */
import { useCallback, useState, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { Pager } from '../components/pager.tsx';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { ItemFilters, NO_FILTER, queryOf } from './item-filters.tsx';
import { ItemTable, type ItemSort } from './item-table.tsx';
import type { RunRecord } from './run-types.ts';
import { Timeline } from './timeline.tsx';

const PAGE_ROWS = 50;
const IN_ORDER: ItemSort = { by: 'POSITION', descending: false };

export interface ItemsSectionProps {
  readonly run: RunRecord;
  onChange(): void;
}

export function ItemsSection({ run, onChange }: ItemsSectionProps): ReactElement {
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
            ...{ limit: PAGE_ROWS, sort_order: sort.by, descending: sort.descending ? 'true' : 'false' },
            ...(pageId === undefined ? {} : { page_id: pageId }),
            ...queryOf(filter),
          },
        },
        { signal },
      ),
    [client, id, filter, sort, pageId],
  );
  const { value, problem, again } = usePolled(ask);
  const items = value?.items ?? [];
  const isFiltered = Object.values(filter).some((text) => text !== '');
  return (
    <>
      <Timeline run={run} items={items} />
      <section aria-label="Items" className="stack">
        <h2>Items</h2>
        <ItemFilters
          filter={filter}
          onChange={(changed) => {
            setFilter(changed);
            setPages([]);
          }}
        />
        {items.length > 0 && problem !== null ? <Notice tone="bad">{problem}</Notice> : null}
        {items.length === 0 ? (
          <Empty isLoading={value === null} problem={problem}>
            <p>{isFiltered ? 'No item is so.' : 'The run has no item yet.'}</p>
            {isFiltered ? (
              <Button kind="quiet" onClick={() => setFilter(NO_FILTER)}>
                Show all items
              </Button>
            ) : null}
          </Empty>
        ) : (
          <ItemTable
            run={run}
            items={items}
            sort={sort}
            onSort={(wanted) => {
              setSort(wanted);
              setPages([]);
            }}
            onChange={() => {
              again();
              onChange();
            }}
          />
        )}
        <Pager pages={pages} next={value?.next_page_id ?? null} onChange={setPages} />
      </section>
    </>
  );
}
