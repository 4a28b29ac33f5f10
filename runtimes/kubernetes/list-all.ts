/**
 * A list of the API server, page by page.
 * Owns going on and beginning anew: a place in time that the server has forgotten means that the list starts over.
 */
import { answerOf, refusalOf } from './api-errors.ts';
import { RELISTS_MAX } from './limits.ts';

export interface Page<T> {
  readonly items: readonly T[];
  readonly metadata?: { readonly _continue?: string; readonly resourceVersion?: string };
}

/** `fetch` is handed the mark of the next page, null for the first. */
export async function listAll<T>(fetch: (mark: string | null) => Promise<Page<T>>): Promise<readonly T[]> {
  for (let count = 1; ; count += 1) {
    try {
      return await allPages(fetch);
    } catch (error) {
      if (refusalOf(answerOf(error)) !== 'expired' || count >= RELISTS_MAX) throw error;
    }
  }
}

async function allPages<T>(fetch: (mark: string | null) => Promise<Page<T>>): Promise<readonly T[]> {
  const found: T[] = [];
  let mark: string | null = null;
  do {
    const page: Page<T> = await fetch(mark);
    found.push(...page.items);
    mark = page.metadata?._continue || null;
  } while (mark !== null);
  return found;
}
