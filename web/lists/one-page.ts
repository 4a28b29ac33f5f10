/**
 * The state of a list that is never longer than a page.
 * Owns nothing that changes.
 */
export const ONE_PAGE = {
  isFiltered: false,
  pages: [],
  setPages: () => undefined,
  clear: () => undefined,
} as const;
