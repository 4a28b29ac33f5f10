/**
 * Page ids: where a page begins, as text that clients hand back unread.
 * Owns the spelling; one that cannot be read begins at the start, as in the reference product.
 */
import { z } from 'zod';
import type { Cursor } from '../../ports/record-search.ts';

const cursorSchema = z.tuple([z.union([z.string(), z.number()]), z.string()]);

export function writeCursor({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id]), 'utf8').toString('base64url');
}

export function readCursor(text: string | undefined): Cursor | null {
  if (text === undefined) return null;
  try {
    const [value, id] = cursorSchema.parse(
      JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown,
    );
    return { value, id };
  } catch {
    return null;
  }
}

/** Items of one page, and the cursor of the next: there is one when a row more than asked for was found. */
export function pageFrom<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => Cursor,
): { readonly rows: readonly Row[]; readonly nextPageId: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), nextPageId: last === undefined ? null : writeCursor(cursorOf(last)) };
}
