/**
 * Runs and the items of one, page by page.
 * Owns the two queries; each is answered from an index of its own (version 7 of the schema).
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { RunId, UserId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import type { PageRequest, PlacedItem, RunFilter } from '../../ports/record-search.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { Dialect } from '../sql/connection.ts';
import { behind, ordered } from '../sql/keyset.ts';
import type { Tables } from '../schema/tables.ts';

const RUN_BOUNDS = { kind: 'number', value: sql.ref('created_at'), id: sql.ref('run_id') } as const;
const ITEM_BOUNDS = { kind: 'number', value: sql.ref('position'), id: sql.ref('key') } as const;

export interface RunPageRequest {
  readonly page: PageRequest;
  /** Null: of everybody. */
  readonly userId: UserId | null;
  readonly filter: RunFilter;
}

export async function runPage(
  db: Kysely<Tables>,
  dialect: Dialect,
  { page, userId, filter: { name, state } }: RunPageRequest,
): Promise<readonly RunRow[]> {
  const said = (field: string): RawBuilder<unknown> =>
    dialect === 'sqlite' ? sql`json_extract(body, ${`$.${field}`})` : sql`(body::json ->> ${field})`;
  const conditions = [
    ...(userId === null ? [] : [sql`user_id = ${userId}`]),
    // True of every run, and what makes both dialects begin in the index.
    sql`created_at >= 0`,
    ...behind(RUN_BOUNDS, page),
    ...(name === undefined ? [] : [sql`${said('name')} = ${name}`]),
    ...(state === undefined
      ? []
      : [state === 'finished' ? sql`${said('phase')} = 'finished'` : sql`${said('phase')} <> 'finished'`]),
  ];
  const { rows } = await sql<{ readonly body: string }>`select body from run
    where ${sql.join(conditions, sql` and `)} ${ordered(RUN_BOUNDS, page)} limit ${page.limit}`.execute(db);
  return rows.map(({ body }) => JSON.parse(body) as RunRow);
}

export async function runItemPage(
  db: Kysely<Tables>,
  id: RunId,
  page: PageRequest,
): Promise<readonly PlacedItem[]> {
  const conditions = [sql`run_id = ${id}`, ...behind(ITEM_BOUNDS, page)];
  const { rows } = await sql<{ readonly position: number | bigint | string; readonly body: string }>`
    select position, body from run_item where ${sql.join(conditions, sql` and `)}
    ${ordered(ITEM_BOUNDS, page)} limit ${page.limit}`.execute(db);
  return rows.map(({ position, body }) => ({
    row: JSON.parse(body) as RunItemRow,
    position: safeInteger(position),
  }));
}
