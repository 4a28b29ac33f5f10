/**
 * A page of one's own transcript as the text that is stored.
 * Owns the two statements of a page without a filter; with one it is `event-search.ts` that builds them.
 */
import { sql, type Kysely } from 'kysely';
import type { ConversationId, UserId } from '../../core/ids.ts';
import type { EventPageRequest, EventText } from '../../ports/event-search.ts';
import { safeInteger } from '../sql/column-value.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

interface Wanted {
  readonly id: string;
  readonly userId: string;
  readonly after: number;
  readonly limit: number;
}

interface TextRow {
  readonly sequence: number | bigint | string;
  readonly body: string;
}

const isOwn = ({ id, userId }: Pick<Wanted, 'id' | 'userId'>) =>
  sql<boolean>`exists (select 1 from conversation where conversation_id = ${id} and user_id = ${userId})`;

const FORWARD = prepareQuery((db, { id, userId, after, limit }: Wanted) =>
  sql<TextRow>`select sequence, body from event where conversation_id = ${id} and sequence > ${after}
      and ${isOwn({ id, userId })} order by sequence limit ${limit}`.compile(db),
);

const BACKWARD = prepareQuery((db, { id, userId, after, limit }: Wanted) =>
  sql<TextRow>`select sequence, body from event where conversation_id = ${id} and sequence < ${after}
      and ${isOwn({ id, userId })} order by sequence desc limit ${limit}`.compile(db),
);

/** None of a conversation that is missing or somebody else's. */
export async function ownEventPage(
  db: Kysely<Tables>,
  { id, userId }: { readonly id: ConversationId; readonly userId: UserId },
  { afterSequence, limit, descending }: EventPageRequest,
): Promise<readonly EventText[]> {
  const after = afterSequence ?? (descending ? Number.MAX_SAFE_INTEGER : 0);
  const rows = await (descending ? BACKWARD : FORWARD).all(db, { id, userId, after, limit });
  return rows.map(({ sequence, body }) => ({ sequence: safeInteger(sequence), body }));
}
