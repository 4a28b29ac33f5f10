/**
 * What of a list is chosen: its filter, its order and its page, as they stand in the address.
 * Owns the names in the address; what each means is the page's.
 */
import { useCallback, useMemo } from 'react';
import { setQuery, useQuery } from '../routing/use-place.ts';

/** Names of pages behind the first, in one value: none of them has such a sign. */
const PAGE = 'page';
const BETWEEN = ',';
/** An address has a length that servers take. */
const PAGES_MAX = 60;

interface ListState<Filter extends Readonly<Record<string, string>>> {
  readonly filter: Filter;
  /** Something is chosen other than at first. */
  readonly isFiltered: boolean;
  readonly pages: readonly string[];
  /** For the server; undefined on the first page. */
  readonly pageId: string | undefined;
  setFilter(change: Partial<Filter>): void;
  setPages(pages: readonly string[]): void;
  clear(): void;
}

/** `first` is what holds where the address says nothing, and must keep its identity; orders are fields like others. */
export function useListState<Filter extends Readonly<Record<string, string>>>(
  first: Filter,
): ListState<Filter> {
  const query = useQuery();
  const { filter, pages } = useMemo(() => read(query, first), [query, first]);
  const write = useCallback(
    (next: Filter, nextPages: readonly string[], isStep: boolean) => {
      const params = new URLSearchParams();
      for (const [name, value] of Object.entries(next)) if (value !== first[name]) params.set(name, value);
      if (nextPages.length > 0) params.set(PAGE, nextPages.slice(-PAGES_MAX).join(BETWEEN));
      setQuery(params, { isStep });
    },
    [first],
  );
  return {
    filter,
    pages,
    isFiltered: Object.entries(filter).some(([name, value]) => value !== first[name]),
    pageId: pages.at(-1),
    setFilter: (change) => write({ ...filter, ...change }, [], false),
    setPages: (next) => write(filter, next, true),
    clear: () => write(first, [], true),
  };
}

function read<Filter extends Readonly<Record<string, string>>>(
  query: string,
  first: Filter,
): { readonly filter: Filter; readonly pages: readonly string[] } {
  const params = new URLSearchParams(query);
  const named = Object.keys(first).map((name) => [name, params.get(name) ?? first[name] ?? '']);
  return {
    filter: Object.fromEntries(named) as Filter,
    pages: (params.get(PAGE) ?? '').split(BETWEEN).filter((id) => id !== ''),
  };
}

const PAGE_ROWS = 50;

/** The page of a list, as the server is asked for it; `pageId` undefined: the first one. */
export function pageQuery(
  pageId: string | undefined,
  limit = PAGE_ROWS,
): { readonly limit: number; readonly page_id?: string } {
  return pageId === undefined ? { limit } : { limit, page_id: pageId };
}
