/**
 * Reading a conversation's events: the source of messages, actions, observations, state changes and errors.
 * Owns the routes and the stable cursor, the sequence number; works with the sandbox gone, and resumes nothing.
 */
import { z } from 'zod';
import { conversationId, type ConversationId } from '../../core/ids.ts';
import type { EventFilter } from '../../ports/event-search.ts';
import type { Application, Principal } from '../application/application.ts';
import {
  jsonText,
  conversationParams,
  instantIn,
  limitIn,
  pageIdIn,
  pageOf,
  parseInstant,
  PAGE_LIMIT_MAX,
  repeated,
} from '../application/wire.ts';
import { route } from '../application/route.ts';

const eventSchema = z
  .looseObject({ id: z.string(), timestamp: z.string(), kind: z.string() })
  .meta({ id: 'Event' });

const KIND = /^[A-Za-z]{1,100}$/;

const filterSchema = z.object({
  kind__eq: z.string().regex(KIND, 'Input should be a kind of event').optional(),
  timestamp__gte: instantIn.optional(),
  timestamp__lt: instantIn.optional(),
});

const searchSchema = filterSchema.extend({
  sort_order: z.enum(['TIMESTAMP', 'TIMESTAMP_DESC']).default('TIMESTAMP'),
  page_id: pageIdIn,
  limit: limitIn,
});

export const EVENT_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/conversation/:conversation_id/events/search',
    operation: 'search_events',
    summary: 'Events in order; a conversation that does not exist has none.',
    access: 'key',
    params: conversationParams,
    query: searchSchema,
    result: pageOf(eventSchema),
    handler: async ({ application, caller, params, query }) => {
      const owner = { userId: caller.userId, id: conversationId(params.conversation_id) };
      const found = await application.eventSearch.ownEventTexts(owner, filterOf(query), {
        afterSequence: sequenceOf(query.page_id),
        limit: query.limit + 1,
        descending: query.sort_order === 'TIMESTAMP_DESC',
      });
      const items = found.slice(0, query.limit);
      const last = found.length > query.limit ? items.at(-1) : undefined;
      const nextPageId = last === undefined ? 'null' : `"${last.sequence}"`;
      return jsonText(`{"items":[${items.map(({ body }) => body).join()}],"next_page_id":${nextPageId}}`);
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/conversation/:conversation_id/events/count',
    operation: 'count_events',
    summary: 'How many events the filter finds.',
    access: 'key',
    params: conversationParams,
    query: filterSchema,
    result: z.int(),
    handler: async ({ application, caller, params, query }) => {
      const id = await own(application, caller, params.conversation_id);
      return id === null ? 0 : await application.eventSearch.countEvents(id, filterOf(query));
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/conversation/:conversation_id/events',
    operation: 'get_events',
    summary: 'Events by id, null for each that does not exist.',
    access: 'key',
    params: conversationParams,
    query: z.object({ id: repeated(z.string().min(1).max(200), PAGE_LIMIT_MAX) }),
    result: z.array(eventSchema.nullable()),
    handler: async ({ application, caller, params, query }) => {
      const id = await own(application, caller, params.conversation_id);
      if (id === null) return query.id.map(() => null);
      const found = await application.eventSearch.eventsById(id, query.id);
      return found.map((event) => (event === null ? null : (event.body as z.output<typeof eventSchema>)));
    },
  }),
] as const;

/** Null for a conversation that is missing or another user's (D4). */
export async function own(
  { search }: Application,
  { userId }: Pick<Principal, 'userId'>,
  id: string,
): Promise<ConversationId | null> {
  const [row] = await search.conversationsById(userId, [conversationId(id)]);
  return row?.conversationId ?? null;
}

/** A page id that cannot be read begins at the start, as in the reference product. */
function sequenceOf(pageId: string | undefined): number | null {
  return pageId !== undefined && /^\d{1,15}$/.test(pageId) ? Number(pageId) : null;
}

function filterOf(query: z.output<typeof filterSchema>): EventFilter {
  const { kind__eq: kind, timestamp__gte: from, timestamp__lt: before } = query;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(from === undefined ? {} : { timestampFrom: naive(from) }),
    ...(before === undefined ? {} : { timestampBefore: naive(before) }),
  };
}

/** As events spell instants: UTC, without a zone. */
function naive(instant: string): string {
  return new Date(parseInstant(instant)).toISOString().replace(/Z$/, '000');
}
