/**
 * Reading conversations: by id, by filter, counted.
 * Owns the routes; reading never resumes a sandbox (D7).
 */
import { z } from 'zod';
import { conversationId, sandboxId } from '../../core/ids.ts';
import { EXECUTION_STATUSES, SANDBOX_STATUSES } from '../../core/status.ts';
import { CONVERSATION_ORDERS, type ConversationFilter } from '../../ports/record-search.ts';
import { answerWrittenPage, pageRequest } from '../application/cursor.ts';
import { jsonText } from '../application/json-text.ts';
import { route } from '../application/route.ts';
import {
  hexOf,
  instantIn,
  limitIn,
  pageIdIn,
  pageOf,
  parseInstant,
  repeated,
  uuidIn,
  wordIn,
} from '../application/wire.ts';
import { conversationSchema, writtenRecord } from './conversation-record.ts';

/** As in the reference product. */
const IDS_MAX = 99;
const SORT_ORDERS = CONVERSATION_ORDERS.flatMap((order) => [order, `${order}_DESC`] as const);

const TAG_FILTER = /^[a-z0-9]+=/;

const filterSchema = z.object({
  title__contains: z.string().max(200).optional(),
  created_at__gte: instantIn.optional(),
  created_at__lt: instantIn.optional(),
  updated_at__gte: instantIn.optional(),
  updated_at__lt: instantIn.optional(),
  sandbox_id__eq: uuidIn.optional(),
  sandbox_status__eq: wordIn(SANDBOX_STATUSES).optional(),
  execution_status__eq: wordIn(EXECUTION_STATUSES).optional(),
  tag: repeated(z.string().regex(TAG_FILTER, 'Input should be <key>=<value>'), 10).optional(),
});

const searchSchema = filterSchema.extend({
  sort_order: z.enum(SORT_ORDERS).default('CREATED_AT_DESC'),
  page_id: pageIdIn,
  limit: limitIn,
});

export const CONVERSATION_READ_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/app-conversations',
    operation: 'get_app_conversations',
    summary: 'Conversations by id, null for each that does not exist.',
    access: 'key',
    query: z.object({ ids: repeated(uuidIn, IDS_MAX) }),
    result: z.array(conversationSchema.nullable()),
    handler: async ({ application, caller, query }) => {
      const ids = query.ids.map((id) => conversationId(hexOf(id)));
      const found = await application.search.fullConversations(caller.userId, ids);
      const texts = found.map((full) => (full === null ? 'null' : writtenRecord(application, full)));
      return jsonText(`[${texts.join()}]`);
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/search',
    operation: 'search_app_conversations',
    summary: 'Conversations by title, time, sandbox, status and tags.',
    access: 'key',
    query: searchSchema,
    result: pageOf(conversationSchema),
    leadsTo: {
      conversation_id: '$response.body#/items/0/id',
      sandbox_id: '$response.body#/items/0/sandbox_id',
    },
    handler: async ({ application, caller, query }) => {
      const found = await application.search.conversationPage(caller.userId, filterOf(query), {
        order: orderOf(query.sort_order),
        descending: query.sort_order.endsWith('_DESC'),
        ...pageRequest(query),
      });
      return answerWrittenPage(found, query.limit, {
        cursor: ({ cursor }) => cursor,
        text: ({ full }) => writtenRecord(application, full),
      });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/count',
    operation: 'count_app_conversations',
    summary: 'How many conversations the filter finds.',
    access: 'key',
    query: filterSchema,
    result: z.int(),
    handler: ({ application, caller, query }) =>
      application.search.countConversations(caller.userId, filterOf(query)),
  }),
] as const;

type Order = (typeof CONVERSATION_ORDERS)[number];

function orderOf(word: string): Order {
  return CONVERSATION_ORDERS.find((order) => word === order || word === `${order}_DESC`) ?? 'CREATED_AT';
}

function filterOf(query: z.output<typeof filterSchema>): ConversationFilter {
  const instant = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : parseInstant(text);
  const tags = (query.tag ?? []).map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  const { sandbox_id__eq: sandbox } = query;
  return defined({
    titleContains: query.title__contains,
    createdFrom: instant(query.created_at__gte),
    createdBefore: instant(query.created_at__lt),
    updatedFrom: instant(query.updated_at__gte),
    updatedBefore: instant(query.updated_at__lt),
    sandboxId: sandbox === undefined ? undefined : sandboxId(sandbox),
    sandboxStatus: query.sandbox_status__eq,
    executionStatus: query.execution_status__eq,
    tags: Object.fromEntries(tags),
  });
}

type Optional<Type> = { readonly [Name in keyof Type]?: Exclude<Type[Name], undefined> };

/** Without the fields that nobody named. */
function defined<Type extends object>(fields: Type): Optional<Type> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Optional<Type>;
}
