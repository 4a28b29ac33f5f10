/**
 * A user's own records by their ids.
 * Owns that all reads in the same turn of the event loop, by any user, are one statement, and that no user gets records
 * of another.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { UserId } from '../../core/ids.ts';
import { GatheredReads } from '../sql/gathered-reads.ts';
import { prepareRows } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

/** The same limit as rows of one statement. */
const IDS_MAX = 128;

interface Key {
  readonly id: string;
}

interface Records<Row, Found> {
  /** The statement, given the list of ids. */
  select(ids: RawBuilder<unknown>): RawBuilder<Row>;
  found(row: Row): Found;
  keyOf(found: Found): { readonly id: string; readonly userId: UserId };
}

/** In the order of the ids, at most 128; null where there is no such record, or it is another user's. */
export type ReadOwned<Id extends string, Found> = (
  userId: UserId,
  ids: readonly Id[],
) => Promise<readonly (Found | null)[]>;

export function ownedById<Id extends string, Row, Found>(
  read: <T>(work: (db: Kysely<Tables>) => Promise<T>) => Promise<T>,
  { select, found, keyOf }: Records<Row, Found>,
): ReadOwned<Id, Found> {
  const query = prepareRows((db, keys: readonly Key[]) =>
    select(sql.join(keys.map(({ id }) => sql`${id}`))).compile(db),
  );
  const all = new GatheredReads(async (ids) => {
    const rows = await read((db) => query.execute(db, filledUp(ids)));
    return new Map(rows.map(found).map((one) => [keyOf(one).id, one]));
  }, IDS_MAX);
  return async (userId, ids) => {
    if (ids.length === 0) return [];
    const byId = await all.read(ids);
    return ids.map((id) => {
      const one = byId.get(id);
      return one !== undefined && keyOf(one).userId === userId ? one : null;
    });
  };
}

/** Repeats the last id up to a power of two, so that lists of all lengths need few statement texts. */
function filledUp(ids: readonly string[]): readonly Key[] {
  const keys = ids.map((id) => ({ id }));
  const last = keys.at(-1);
  if (last === undefined) return [];
  const size = 2 ** Math.ceil(Math.log2(keys.length));
  return [...keys, ...Array.from({ length: size - keys.length }, () => last)];
}
