/**
 * A page of a list from the server, in each state: loading, empty, filtered to nothing, stale, failed, and there.
 * Owns the choice between them and the way to other pages; the columns are handed in.
 */
import type { ReactElement, ReactNode } from 'react';
import { Button } from '../components/form.tsx';
import { Loaded } from '../components/parts.tsx';
import { Table, type TableProps } from '../components/table.tsx';
import type { Polled } from '../data/use-polled.ts';
import { FilterBar } from './filter-bar.tsx';
import type { FilterField } from './filter-field.ts';

interface ListingProps<Row> extends Omit<TableProps<Row>, 'rows' | 'label'> {
  /** What is listed, for screen readers. */
  readonly label: string;
  readonly polled: Polled<{ readonly items: readonly Row[]; readonly next_page_id?: string | null }>;
  /** Absent for a list that is never longer than a page. */
  readonly state?: {
    readonly isFiltered: boolean;
    readonly pages: readonly string[];
    setPages(pages: readonly string[]): void;
    clear(): void;
  };
  /** What stands where nothing is. */
  readonly empty: ReactNode;
  /** What stands where the filter finds nothing. */
  readonly none?: string;
}

const ONE_PAGE = { isFiltered: false, pages: [], setPages: () => undefined, clear: () => undefined };

export function Listing<Row>(props: ListingProps<Row>): ReactElement {
  const { polled, state = ONE_PAGE, empty, none, ...table } = props;
  const { isFiltered, pages } = state;
  const nothing = (
    <>
      <p>{none}</p>
      <Button kind="quiet" onClick={() => state.clear()}>
        Show all
      </Button>
    </>
  );
  return (
    <>
      <Loaded
        of={polled}
        isEmpty={({ items }) => items.length === 0}
        none={isFiltered || pages.length > 0 ? nothing : empty}
      >
        {({ items }) => <Table {...table} rows={items} />}
      </Loaded>
      <Pager
        pages={pages}
        next={polled.value?.next_page_id ?? null}
        onChange={(next) => state.setPages(next)}
      />
    </>
  );
}

interface FilteredListingProps<Name extends string, Row> extends ListingProps<Row> {
  readonly fields: readonly FilterField<Name>[];
  readonly state: NonNullable<ListingProps<Row>['state']> & {
    readonly filter: Readonly<Record<Name, string>>;
    setFilter(change: Partial<Record<Name, string>>): void;
  };
}

/** A list below what narrows it. */
export function FilteredListing<Name extends string, Row>({
  fields,
  ...props
}: FilteredListingProps<Name, Row>): ReactElement {
  const { label, state } = props;
  return (
    <>
      <FilterBar
        label={label}
        fields={fields}
        values={state.filter}
        onChange={(change) => state.setFilter(change)}
      />
      <Listing {...props} />
    </>
  );
}

interface PagerProps {
  /** Ids of the pages behind the first, up to the one that is shown. */
  readonly pages: readonly string[];
  /** Null on the last page. */
  readonly next: string | null;
  onChange(pages: readonly string[]): void;
}

/** The way through pages that the server hands out, each of which names the next. */
function Pager({ pages, next, onChange }: PagerProps): ReactElement | null {
  if (pages.length === 0 && next === null) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <span className="quiet">Page {pages.length + 1}</span>
      <Button kind="quiet" disabled={pages.length === 0} onClick={() => onChange(pages.slice(0, -1))}>
        Back
      </Button>
      <Button
        kind="quiet"
        disabled={next === null}
        onClick={() => onChange(next === null ? pages : [...pages, next])}
      >
        Next
      </Button>
    </nav>
  );
}
