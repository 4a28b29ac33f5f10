/**
 * Pages by key: a page begins behind the last row of the one before it, so that no page counts rows.
 * Owns the condition and the order; the index is the caller's.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Cursor, PageRequest } from '../../ports/record-search.ts';
import { columnText } from './column-value.ts';

/** Two columns of one index: the sort value, and the id that orders equal values. */
export interface Bounds {
  readonly kind: 'number' | 'text';
  readonly value: RawBuilder<unknown>;
  readonly id: RawBuilder<unknown>;
}

type Direction = Pick<PageRequest, 'descending'>;

/** A cursor comes from a client: one of another kind begins at the start, like one that cannot be read. */
export function fitting(after: Cursor | null, kind: Bounds['kind']): Cursor | null {
  if (after === null) return null;
  const { value, id } = after;
  if (typeof value === 'string')
    return kind === 'text' ? { value: columnText(value), id: columnText(id) } : null;
  return kind === 'number' && Number.isSafeInteger(value) ? { value, id: columnText(id) } : null;
}

/** None for the first page. */
export function behind(bounds: Bounds, page: PageRequest): readonly RawBuilder<unknown>[] {
  const after = fitting(page.after, bounds.kind);
  return after === null ? [] : [beyond(bounds, after, page)];
}

export function beyond(
  { value, id }: Bounds,
  after: { readonly value: string | number; readonly id: string | number },
  { descending }: Direction,
): RawBuilder<boolean> {
  return descending
    ? sql`(${value}, ${id}) < (${after.value}, ${after.id})`
    : sql`(${value}, ${id}) > (${after.value}, ${after.id})`;
}

export function ordered({ value, id }: Bounds, { descending }: Direction): RawBuilder<unknown> {
  const direction = descending ? sql`desc` : sql`asc`;
  return sql`order by ${value} ${direction}, ${id} ${direction}`;
}
