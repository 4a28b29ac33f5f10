/**
 * The page of a list, as the server is asked for it.
 * Owns how long a page is.
 */
const PAGE_ROWS = 50;

/** `pageId` undefined: the first page. */
export function pageQuery(
  pageId: string | undefined,
  limit = PAGE_ROWS,
): { readonly limit: number; readonly page_id?: string } {
  return pageId === undefined ? { limit } : { limit, page_id: pageId };
}
