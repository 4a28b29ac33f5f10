/**
 * Reading conversations: by id, by filter, counted.
 * Owns the routes; reading never resumes a sandbox (D7).
 */
import { ZipFile } from 'yazl';
import { z } from 'zod';
import { trajectoryEntry } from '../../activities/collect/trajectory.ts';
import { conversationId, sandboxId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { DISQUALIFICATIONS } from '../../core/placement/place.ts';
import { placementText } from '../../core/placement/placement-text.ts';
import { EXECUTION_STATUSES, SANDBOX_STATUSES, GROUPING_STRATEGIES } from '../../core/status.ts';
import { CONVERSATION_ORDERS, type ConversationFilter } from '../../ports/record-search.ts';
import type { Application } from '../application/application.ts';
import { answerWrittenPage, pageRequest } from '../application/cursor.ts';
import {
  hexId,
  hexOf,
  instantIn,
  instantOut,
  isoInstant,
  jsonText,
  limitIn,
  pageIdIn,
  pageOf,
  parseInstant,
  repeated,
  uuidIn,
  wordIn,
} from '../application/wire.ts';
import { route } from '../application/route.ts';
import { conversationSchema, writtenRecord, recordsById } from './conversation-record.ts';
import { findConversation, OF_CONVERSATION } from './find-conversation.ts';

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

/** Without the fields that the query did not name. */
function defined<Type extends object>(fields: Type): Optional<Type> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Optional<Type>;
}

const placementSchema = z
  .object({
    summary: z.string().meta({ description: 'The decision as one sentence.' }),
    rule: z.enum([...GROUPING_STRATEGIES, 'EXPLICIT']),
    sandbox_id: hexId
      .nullable()
      .meta({ description: 'The one that was there and was chosen; null: a new one.' }),
    seen: z
      .array(z.object({ sandbox_id: hexId, why: z.enum([...DISQUALIFICATIONS, 'available']) }))
      .meta({ description: 'Sandboxes that were looked at, and why each was not taken or could be.' }),
    booted_at: instantOut.nullable().meta({ description: 'Since when the warm one that was taken is up.' }),
    pool: z.object({ run_id: z.string(), living: z.int(), spilled: z.boolean() }).nullable(),
  })
  .meta({ id: 'Placement' });

/** Why a conversation is where it is: the decision of its latest placement, as it was stored (D16). */
export const PLACEMENT_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/placement',
    operation: 'get_placement',
    summary: 'Why a conversation is in its sandbox; null before it was placed.',
    ...OF_CONVERSATION,
    result: placementSchema.nullable(),
    handler: async ({ application, caller, params }) => {
      const row = await findConversation(application, caller, params.conversation_id);
      const decision = await application.world.placement.decision(row.conversationId);
      if (decision === null) return null;
      const { rule, chosen, seen, bootedAt, pool } = decision;
      return {
        summary: placementText(decision),
        rule,
        sandbox_id: chosen,
        seen: seen.map(({ sandboxId, why }) => ({ sandbox_id: sandboxId, why })),
        booted_at: bootedAt === undefined ? null : isoInstant(bootedAt),
        pool: pool === undefined ? null : { run_id: pool.poolId, living: pool.living, spilled: pool.spilled },
      };
    },
  }),
] as const;

/** As in the reference product: more are read page by page. */
const EVENTS_MAX = 10_000;
const PAGE_EVENTS = 200;
/** Entries carry a fixed instant, so that the same events give the same bytes. */
const ENTRY_TIME = new Date(Date.UTC(2000, 0, 1));
/** Downloads under way for one conversation: each holds a page and a stream. */
const underWay = new Set<string>();

/** The trajectory of a conversation as a zip that is written while it is sent. */
export const DOWNLOAD_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/download',
    operation: 'download_trajectory',
    summary: 'The record and every event, as a zip.',
    ...OF_CONVERSATION,
    result: 'application/zip',
    errors: ['not_found', 'request_too_large', 'store_conflict'],
    handler: async ({ application, caller, params, reply }) => {
      const row = await findConversation(application, caller, params.conversation_id);
      const { conversationId: id } = row;
      if ((await application.world.events.count(id)) > EVENTS_MAX)
        throw new ParleyError('request_too_large', `Cannot export: more than ${EVENTS_MAX} events`);
      if (underWay.has(id)) throw new ParleyError('store_conflict', 'Cannot export: an export is under way');
      underWay.add(id);
      const zip = new ZipFile();
      const end = (): void => void underWay.delete(id);
      reply.raw.once('close', end);
      writing(application, zip, row).catch((error: unknown) => {
        end();
        reply.raw.destroy(error instanceof Error ? error : new Error(String(error)));
      });
      await reply
        .type('application/zip')
        .header('content-disposition', `attachment; filename="conversation_${id}.zip"`)
        .send(zip.outputStream);
      return null;
    },
  }),
] as const;

/** The next page is read once the one before has gone out. */
async function writing(application: Application, zip: ZipFile, row: ConversationRow): Promise<void> {
  const { world } = application;
  const { conversationId: id } = row;
  const [record] = await recordsById(application, row.userId, [id]);
  // A key opens a sandbox: it does not belong in a file that users pass on (D20).
  const meta = { ...record, session_api_key: undefined, conversation_url: undefined };
  zip.addBuffer(Buffer.from(`${JSON.stringify(meta, null, 2)}\n`), 'meta.json', { mtime: ENTRY_TIME });
  for (let after = 0; ;) {
    const page = await world.events.events(id, { afterSequence: after, limit: PAGE_EVENTS });
    for (const event of page) {
      const [name, text] = trajectoryEntry(event);
      zip.addBuffer(Buffer.from(text), name, { mtime: ENTRY_TIME });
    }
    after = page.at(-1)?.sequence ?? after;
    if (page.length < PAGE_EVENTS) break;
    await drained(zip);
  }
  zip.end();
}

/** More of it than this waiting to be sent means that the client is slower than the store. */
const WAITING_BYTES_MAX = 1_048_576;
const POLL_MS = 20;

async function drained({ outputStream }: ZipFile): Promise<void> {
  const stream = outputStream as NodeJS.ReadableStream & {
    readonly readableLength: number;
    readonly destroyed: boolean;
  };
  while (stream.readableLength > WAITING_BYTES_MAX && !stream.destroyed)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
