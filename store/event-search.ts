/**
 * Transcripts by filter, in either direction.
 * Owns the queries; the log itself is `event-log.ts`.
 */
import { sql, type Kysely, type Selectable } from 'kysely';
import type { ConversationId } from '../core/ids.ts';
import type { EventFilter, EventSearch } from '../ports/event-search.ts';
import type { StoredEvent } from '../ports/record-store.ts';
import { columnText, safeInteger } from './column-value.ts';
import type { StoreConnection } from './connection.ts';
import type { EventTable, Tables } from './tables.ts';

export function eventSearch(connection: StoreConnection): EventSearch {
  return {
    searchEvents: (id, filter, { afterSequence, limit, descending }) =>
      connection.read(`search events of the conversation "${id}"`, async (db) => {
        const compare = descending ? sql`<` : sql`>`;
        const rows = await filtered(db, id, filter)
          .selectAll()
          .$if(afterSequence !== null, (query) =>
            query.where(sql<boolean>`sequence ${compare} ${afterSequence}`),
          )
          .orderBy('sequence', descending ? 'desc' : 'asc')
          .limit(limit)
          .execute();
        return rows.map(eventOf);
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

function eventOf(row: Selectable<EventTable>): StoredEvent {
  return {
    sequence: safeInteger(row.sequence),
    eventId: row.event_id,
    timestamp: row.timestamp,
    kind: row.kind,
    body: JSON.parse(row.body) as StoredEvent['body'],
  };
}
