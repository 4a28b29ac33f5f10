/**
 * Pages of search results, as all searches use them. Pure.
 */
import { z } from 'zod';

import { PAGE_ROWS_MAX } from '../limits.ts';
import { parseTimestampUs } from '../timestamp.ts';

export const limitSchema = z.coerce.number().int().min(1).max(PAGE_ROWS_MAX).default(PAGE_ROWS_MAX);

/** An instant of a filter, as epoch microseconds. */
export const timeSchema = z.string().transform((text, context) => {
  const timeUs = parseTimestampUs(text);
  if (timeUs !== null) return timeUs;
  context.addIssue({ code: 'custom', message: 'Input should be a valid datetime' });
  return z.NEVER;
});

export interface Page<T> {
  readonly items: readonly T[];
  /** Id of the first row of the next page; null at the end. */
  readonly next_page_id: string | null;
}

/** The page that starts at the row with `pageId`; an unknown id falls back to the start. */
export function pageOf<T>(
  rows: readonly T[],
  options: { readonly pageId: string | null; readonly limit: number; readonly idOf: (row: T) => string },
): Page<T> {
  const found = options.pageId === null ? 0 : rows.findIndex((row) => options.idOf(row) === options.pageId);
  const start = Math.max(0, found);
  const next = rows[start + options.limit];
  return {
    items: rows.slice(start, start + options.limit),
    next_page_id: next === undefined ? null : options.idOf(next),
  };
}
