/**
 * A page of a list from the server, in each state: loading, empty, filtered to nothing, stale, failed, and there.
 * Owns the choice between them and the way to other pages; rows are drawn by whoever shows it.
 */
import type { ReactElement, ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { Pager } from '../components/pager.tsx';
import { Scroll } from '../components/scroll.tsx';
import type { Polled } from '../data/use-polled.ts';

export interface ListingProps<Row> {
  /** What is listed, for screen readers. */
  readonly label: string;
  readonly polled: Polled<{ readonly items: readonly Row[]; readonly next_page_id: string | null }>;
  readonly state: {
    readonly isFiltered: boolean;
    readonly pages: readonly string[];
    setPages(pages: readonly string[]): void;
    clear(): void;
  };
  /** What stands where nothing is. */
  readonly empty: ReactNode;
  /** What stands where the filter finds nothing. */
  readonly none: string;
  children(rows: readonly Row[]): ReactNode;
}

export function Listing<Row>({
  label,
  polled: { value, problem },
  state,
  empty,
  none,
  children,
}: ListingProps<Row>): ReactElement {
  const rows = value?.items ?? [];
  const { isFiltered, pages } = state;
  return (
    <>
      {rows.length > 0 && problem !== null ? <Notice tone="bad">{problem}</Notice> : null}
      {rows.length > 0 ? (
        <Scroll label={label}>{children(rows)}</Scroll>
      ) : (
        <Empty isLoading={value === null} isKnown={value !== null} problem={problem}>
          {isFiltered || pages.length > 0 ? (
            <>
              <p>{none}</p>
              <Button kind="quiet" onClick={() => state.clear()}>
                Show all
              </Button>
            </>
          ) : (
            empty
          )}
        </Empty>
      )}
      <Pager pages={pages} next={value?.next_page_id ?? null} onChange={(next) => state.setPages(next)} />
    </>
  );
}
