/**
 * Transcripts: events stored as they came, under sequence numbers of our own.
 * Owns the numbers, which have no gaps, and that an event counts once; must not read what an event says.
 */
import { sql, type Insertable, type Transaction } from 'kysely';
import type { ConversationId } from '../../core/ids.ts';
import { TRANSCRIPT_BYTES_MAX, TRANSCRIPT_EVENTS_MAX } from '../../core/limits.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { EventLog, StoredEvent } from '../../ports/record-store.ts';
import { columnText, safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery, prepareRows } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';
import type { EventNews } from './event-news.ts';
import { isDeleted } from '../engine/tombstone.ts';

/** Events of one page at most: a page is held in memory whole. */
const PAGE_MAX = 1_000;

type IncomingEvents = Parameters<EventLog['append']>[1];
type EventPage = Parameters<EventLog['events']>[1];

export function eventLog(connection: StoreConnection, news: EventNews): EventLog {
  return {
    async append(id, events, receivedAt) {
      const { fresh, lastSequence } = await append(connection, { id, events, receivedAt });
      if (fresh > 0) news.grown(id, lastSequence);
      return fresh;
    },
    events: (id, page) => events(connection, id, page),
    count: async (id) => (await head(connection, id)).lastSequence,
    lastReceivedAt: async (id) => (await head(connection, id)).lastReceivedAt,
  };
}

interface Arrival {
  readonly id: ConversationId;
  readonly events: IncomingEvents;
  readonly receivedAt: number;
}

interface Appended {
  readonly fresh: number;
  readonly lastSequence: number;
}

const NOTHING: Appended = { fresh: 0, lastSequence: 0 };

function append(connection: StoreConnection, arrival: Arrival): Promise<Appended> {
  const { id, events } = arrival;
  if (events.length === 0) return Promise.resolve(NOTHING);
  return connection.write(`store events of the conversation "${id}"`, async (transaction) => {
    if (await isDeleted(connection, transaction, id)) return NOTHING;
    const head = await lockHead(transaction, id);
    const fresh = await unknownEvents(transaction, id, events);
    if (fresh.length === 0) return NOTHING;
    const bodies = fresh.map((event) => JSON.stringify(event));
    const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), head.bytes);
    if (bytes > TRANSCRIPT_BYTES_MAX || head.lastSequence + fresh.length > TRANSCRIPT_EVENTS_MAX) {
      const message = `Cannot store events of the conversation "${id}": its transcript would be over ${TRANSCRIPT_BYTES_MAX} bytes or ${TRANSCRIPT_EVENTS_MAX} events`;
      throw new ParleyError('transcript_full', message);
    }
    await insertEvents(transaction, { ...arrival, events: fresh, bodies }, { ...head, bytes });
    return { fresh: fresh.length, lastSequence: head.lastSequence + fresh.length };
  });
}

const LOCK_HEAD = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .insertInto('transcript')
    .values({ conversation_id: id, last_sequence: 0, last_received_at: null, bytes: 0 })
    .onConflict((conflict) =>
      conflict
        .column('conversation_id')
        .doUpdateSet((row) => ({ conversation_id: row.ref('excluded.conversation_id') })),
    )
    .returning(['last_sequence', 'bytes'])
    .compile(),
);

interface LockedHead {
  readonly lastSequence: number;
  readonly bytes: number;
}

/** The last number given out, with the head's row locked: appends to one conversation follow one another. */
async function lockHead(transaction: Transaction<Tables>, id: ConversationId): Promise<LockedHead> {
  const locked = await LOCK_HEAD.first(transaction, { id });
  return { lastSequence: safeInteger(locked?.last_sequence ?? 0), bytes: safeInteger(locked?.bytes ?? 0) };
}

const KNOWN = prepareRows((db, keys: readonly { readonly id: string; readonly eventId: string }[]) =>
  db
    .selectFrom('event')
    .select('event_id')
    .where('conversation_id', '=', keys[0]?.id ?? '')
    .where(
      'event_id',
      'in',
      keys.map(({ eventId }) => eventId),
    )
    .compile(),
);

/** Those whose id is not stored yet, each id once, in the given order. */
async function unknownEvents(
  transaction: Transaction<Tables>,
  id: ConversationId,
  events: IncomingEvents,
): Promise<IncomingEvents> {
  const byId = new Map<string, IncomingEvents[number]>();
  for (const event of events) {
    const eventId = columnText(event.id);
    if (!byId.has(eventId)) byId.set(eventId, event);
  }
  const keys = [...byId.keys()].map((eventId) => ({ id, eventId }));
  for (const known of await KNOWN.execute(transaction, keys)) byId.delete(known.event_id);
  return [...byId.values()];
}

const INSERT = prepareRows((db, rows: readonly Insertable<Tables['event']>[]) =>
  db.insertInto('event').values(rows).compile(),
);

interface Head extends LockedHead {
  readonly id: string;
  readonly receivedAt: number;
}

const MOVE_HEAD = prepareQuery((db, { id, lastSequence, receivedAt, bytes }: Head) =>
  db
    .updateTable('transcript')
    .set({
      last_sequence: lastSequence,
      bytes,
      // Clocks of two receivers may differ; the newest instant is what an idle watch asks for.
      last_received_at: sql`case when last_received_at > ${receivedAt} then last_received_at else ${receivedAt} end`,
    })
    .where('conversation_id', '=', id)
    .compile(),
);

async function insertEvents(
  transaction: Transaction<Tables>,
  arrival: Arrival & { readonly bodies: readonly string[] },
  { lastSequence, bytes }: LockedHead,
): Promise<void> {
  const { id, events, bodies, receivedAt } = arrival;
  const rows = events.map((event, index) => ({
    conversation_id: id,
    sequence: lastSequence + 1 + index,
    event_id: columnText(event.id),
    timestamp: columnText(event.timestamp),
    kind: columnText(event.kind),
    body: bodies[index] ?? '',
  }));
  await INSERT.execute(transaction, rows);
  await MOVE_HEAD.all(transaction, { id, lastSequence: lastSequence + rows.length, receivedAt, bytes });
}

/** @throws ParleyError invalid_request when the limit is not 1..1000 */
async function events(
  connection: StoreConnection,
  id: ConversationId,
  page: EventPage,
): Promise<readonly StoredEvent[]> {
  if (!Number.isInteger(page.limit) || page.limit < 1 || page.limit > PAGE_MAX) {
    throw new ParleyError(
      'invalid_request',
      `Cannot read events: the limit "${page.limit}" is not 1 to ${PAGE_MAX}`,
    );
  }
  const { kind } = page;
  const rows = await connection.read(`read events of the conversation "${id}"`, (db) =>
    db
      .selectFrom('event')
      .select(['sequence', 'event_id', 'timestamp', 'kind', 'body'])
      .where('conversation_id', '=', id)
      .where('sequence', '>', page.afterSequence)
      .$if(kind !== undefined, (query) => query.where('kind', '=', columnText(kind ?? '')))
      .orderBy('sequence')
      .limit(page.limit)
      .execute(),
  );
  return rows.map((row) => ({
    sequence: safeInteger(row.sequence),
    eventId: row.event_id,
    timestamp: row.timestamp,
    kind: row.kind,
    body: JSON.parse(row.body) as StoredEvent['body'],
  }));
}

const HEAD = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('transcript').selectAll().where('conversation_id', '=', id).compile(),
);

async function head(
  connection: StoreConnection,
  id: ConversationId,
): Promise<{ readonly lastSequence: number; readonly lastReceivedAt: number | null }> {
  const row = await connection.read(`read the transcript of the conversation "${id}"`, (db) =>
    HEAD.first(db, { id }),
  );
  if (row === undefined) return { lastSequence: 0, lastReceivedAt: null };
  return {
    lastSequence: safeInteger(row.last_sequence),
    lastReceivedAt: safeIntegerOrNull(row.last_received_at),
  };
}
