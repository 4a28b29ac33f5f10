/**
 * The items of a run, page by page, as the server filters and orders them.
 * Owns the asking, and which item is open.
 */
import { type ReactElement, type ReactNode, useState } from 'react';
import { useAnswer } from '../data/use-polled.ts';
import { choice, type FilterField, wordChoices } from '../lists/filter-field.ts';
import { FilteredListing } from '../lists/listing.tsx';
import { pageQuery } from '../lists/use-list-state.ts';
import { ItemEvidence } from './item-evidence.tsx';
import { type ItemSort, itemColumns } from './item-table.tsx';
import type { RunItem, RunRecord } from './run-phase.ts';

const IN_ORDER: ItemSort = { by: 'POSITION', descending: false };

interface ItemsSectionProps {
  readonly run: RunRecord;
  /** What stands above the table, about the items of its page; absent: nothing. */
  above?(items: readonly RunItem[]): ReactNode;
  onChange(): void;
}

export function ItemsSection({ run, above, onChange }: ItemsSectionProps): ReactElement {
  const [filter, setFilter] = useState(NO_FILTER);
  const [sort, setSort] = useState(IN_ORDER);
  const [open, setOpen] = useState<string | null>(null);
  const [pages, setPages] = useState<readonly string[]>([]);
  const polled = useAnswer('searchRunItems', {
    params: { run_id: run.id },
    query: {
      ...pageQuery(pages.at(-1)),
      ...{ sort_order: sort.by, descending: sort.descending ? 'true' : 'false' },
      ...queryOf(filter),
    },
  });
  const items = polled.value?.items ?? [];
  const onSort = (wanted: ItemSort): void => {
    setSort(wanted);
    setPages([]);
  };
  const changed = (): void => {
    polled.again();
    onChange();
  };
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
        <FilteredListing
          label="Items"
          fields={ITEM_FIELDS}
          polled={polled}
          state={{
            ...{ filter, isFiltered, pages, setPages, clear: () => changeFilter(NO_FILTER) },
            setFilter: (change) => changeFilter({ ...filter, ...change }),
          }}
          empty={<p>The run has no item yet.</p>}
          none="No item is so."
          columns={itemColumns({ sort, open, onSort, onOpen: setOpen })}
          keyOf={({ key }) => key}
          below={(item) =>
            item.key === open ? <ItemEvidence run={run} item={item} onChange={changed} /> : null
          }
        />
      </section>
    </>
  );
}

/** What narrows the items of a run. */
const NO_FILTER = { state: '', key: '', model: '', repository: '', tag: '' };
type ItemFilter = typeof NO_FILTER;

const STATES = [
  ...[
    'succeeded',
    'failed',
    'check_failed',
    'limit_reached',
    'waiting',
    'cancelled',
    'skipped',
    'not_needed',
  ],
  ...['starting', 'working', 'verifying', 'collecting'],
] as const;
type State = (typeof STATES)[number];

/** As the server is asked. */
function queryOf({ state, key, model, repository, tag }: ItemFilter) {
  return {
    ...(state === '' ? {} : { state: [state as State] }),
    ...(key === '' ? {} : { key__contains: key }),
    ...(model === '' ? {} : { model }),
    ...(repository === '' ? {} : { repository }),
    // Half a tag is no question yet.
    ...(/^[^=]+=/.test(tag) ? { tag: [tag] } : {}),
  };
}

const ITEM_FIELDS: readonly FilterField<keyof ItemFilter>[] = [
  choice('state', 'Outcome', wordChoices('Every outcome', STATES)),
  { name: 'key', label: 'Key contains', kind: 'text' },
  { name: 'model', label: 'Model', kind: 'text' },
  { name: 'repository', label: 'Repository (owner/name)', kind: 'text' },
  { name: 'tag', label: 'Tag (name=value)', kind: 'text' },
];
