/**
 * Page ids: where a page begins, as text that clients send back unread.
 * Owns the spelling; one that cannot be read begins at the start, as in the reference product.
 */
import { z } from 'zod';
import type { Cursor } from '../../ports/record-search.ts';
import { jsonText } from './wire.ts';

const cursorSchema = z.tuple([z.union([z.string(), z.number()]), z.string()]);

export function writeCursor({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id]), 'utf8').toString('base64url');
}

function readCursor(text: string | undefined): Cursor | null {
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

/** What a page requests from the store: one row more than it shows, which says whether there is a next page. */
export function pageRequest(query: { readonly page_id?: string | undefined; readonly limit: number }) {
  return { after: readCursor(query.page_id), limit: query.limit + 1 };
}

/** The page as it is answered; a row that has no record any more is left out. */
export async function answerPage<Row, Item>(
  found: readonly Row[],
  limit: number,
  of: {
    readonly cursor: (row: Row) => Cursor;
    readonly records: (rows: readonly Row[]) => Promise<readonly (Item | null)[]>;
  },
): Promise<{ items: Item[]; next_page_id: string | null }> {
  const { rows, nextPageId } = pageFrom(found, limit, (row) => writeCursor(of.cursor(row)));
  const records = await of.records(rows);
  return { items: records.filter((one) => one !== null), next_page_id: nextPageId };
}

/** As `answerPage`, of records that are written as JSON already. */
export function answerWrittenPage<Row, Item>(
  found: readonly Row[],
  limit: number,
  of: { readonly cursor: (row: Row) => Cursor; readonly text: (row: Row) => string },
): { items: Item[]; next_page_id: string | null } {
  const { rows, nextPageId } = pageFrom(found, limit, (row) => writeCursor(of.cursor(row)));
  return jsonText(`{"items":[${rows.map(of.text).join()}],"next_page_id":${JSON.stringify(nextPageId)}}`);
}

/** Rows of one page, and the id of the next: there is one when a row more than requested was found. */
export function pageFrom<Row>(
  rows: readonly Row[],
  limit: number,
  idBehind: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly nextPageId: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), nextPageId: last === undefined ? null : idBehind(last) };
}

/** A page of a list that is in memory; its ids count. */
export function listPage<Item>(
  found: readonly Item[],
  { limit, page_id: pageId = '' }: { readonly limit: number; readonly page_id?: string | undefined },
): { items: Item[]; next_page_id: string | null } {
  const from = /^\d{1,9}$/.test(pageId) ? Number(pageId) : 0;
  const next = from + limit;
  return { items: found.slice(from, next), next_page_id: next < found.length ? String(next) : null };
}
