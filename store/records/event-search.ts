/**
 * Transcripts by filter, in either direction.
 * Owns the queries; the log itself is `event-log.ts`.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { ConversationId, UserId } from '../../core/ids.ts';
import type { EventFilter, EventPageRequest, EventSearch, EventText } from '../../ports/event-search.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

export function eventSearch(connection: StoreConnection): EventSearch {
  return {
    searchEvents: (id, filter, page) =>
      connection.read(`search events of the conversation "${id}"`, async (db) =>
        (
          await paged(filtered(db, id, filter), page)
            .selectAll()
            .execute()
        ).map(eventOf),
      ),
    ownEventTexts: (owner, filter, page) =>
      connection.read(`read events of the conversation "${owner.id}"`, async (db) => {
        if (Object.keys(filter).length === 0) return await ownEventPage(db, owner, page);
        const rows = await paged(filtered(db, owner.id, filter), page)
          .where(({ exists, selectFrom }) =>
            exists(
              selectFrom('conversation')
                .select('conversation.conversation_id')
                .where('conversation.conversation_id', '=', owner.id)
                .where('conversation.user_id', '=', owner.userId),
            ),
          )
          .select(['sequence', 'body'])
          .execute();
        return rows.map(({ sequence, body }) => ({ sequence: safeInteger(sequence), body }));
      }),
    countEvents: (id, filter) =>
      connection.read(`count events of the conversation "${id}"`, async (db) => {
        const row = await filtered(db, id, filter)
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirst();
        return safeInteger(row?.count ?? 0);
      }),
    eventsById: (id, ids) =>
      connection.read(`read events of the conversation "${id}"`, async (db) => {
        if (ids.length === 0) return [];
        const wanted = ids.map(columnText);
        const rows = await filtered(db, id, {}).selectAll().where('event_id', 'in', wanted).execute();
        const found = new Map(rows.map((row) => [row.event_id, eventOf(row)]));
        return wanted.map((eventId) => found.get(eventId) ?? null);
      }),
  };
}

function filtered(db: Kysely<Tables>, id: ConversationId, filter: EventFilter) {
  const { kind, timestampFrom, timestampBefore } = filter;
  return db
    .selectFrom('event')
    .where('conversation_id', '=', id)
    .$if(kind !== undefined, (query) => query.where('kind', '=', columnText(kind ?? '')))
    .$if(timestampFrom !== undefined, (query) => query.where('timestamp', '>=', timestampFrom ?? ''))
    .$if(timestampBefore !== undefined, (query) => query.where('timestamp', '<', timestampBefore ?? ''));
}

function paged(
  query: ReturnType<typeof filtered>,
  { afterSequence, limit, descending }: EventPageRequest,
): ReturnType<typeof filtered> {
  const compare = descending ? '<' : '>';
  return query
    .$if(afterSequence !== null, (behind) => behind.where('sequence', compare, afterSequence ?? 0))
    .orderBy('sequence', descending ? 'desc' : 'asc')
    .limit(limit);
}

function eventOf(row: Selectable<Tables['event']>): StoredEvent {
  return {
    sequence: safeInteger(row.sequence),
    eventId: row.event_id,
    timestamp: row.timestamp,
    kind: row.kind,
    body: JSON.parse(row.body) as StoredEvent['body'],
  };
}

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

/** Empty for a conversation that is missing or belongs to another user. */
async function ownEventPage(
  db: Kysely<Tables>,
  { id, userId }: { readonly id: ConversationId; readonly userId: UserId },
  { afterSequence, limit, descending }: EventPageRequest,
): Promise<readonly EventText[]> {
  const after = afterSequence ?? (descending ? Number.MAX_SAFE_INTEGER : 0);
  const rows = await (descending ? BACKWARD : FORWARD).all(db, { id, userId, after, limit });
  return rows.map(({ sequence, body }) => ({ sequence: safeInteger(sequence), body }));
}
