/**
 * The page of a list that is one of several on a page of the console, and so has no place in the address.
 * Owns the ids.
 */
import { useState } from 'react';

export function usePages() {
  const [pages, setPages] = useState<readonly string[]>([]);
  const pageId = pages.at(-1);
  const state = { isFiltered: false, pages, setPages, clear: () => setPages([]) };
  return { pageId, state };
}
