/**
 * Starting a conversation, and polling until it is READY.
 * Owns the routes; the order of a start is in start.ts.
 */
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { conversationId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { StartTaskStatus } from '../../core/status.ts';
import type { StartTask } from '../../ports/start-tasks.ts';
import { type Call, route } from '../application/route.ts';
import type { Principal, Application } from '../application/application.ts';
import { answerPage, pageRequest } from '../application/cursor.ts';
import { idempotencyKeyOf } from '../application/idempotency-key.ts';
import {
  hexOf,
  instantIn,
  limitIn,
  pageIdIn,
  pageOf,
  parseInstant,
  PAGE_LIMIT_MAX,
  repeated,
  uuidIn,
  hexId,
  instantOut,
  isoInstant,
} from '../application/wire.ts';
import { startTaskStatus } from '../application/words.ts';
import { agentUrl } from '../sandboxes/sandbox-record.ts';
import { startConversation } from './start.ts';
import { startRequestSchema, type StartRequest } from './start-request.ts';

/** A start task as clients poll it (spec "Start task", D18). */
const startTaskSchema = z
  .object({
    id: hexId,
    created_by_user_id: z.string(),
    status: startTaskStatus,
    detail: z.string().nullable().meta({ description: 'Why it ended in ERROR.' }),
    queue_position: z
      .int()
      .nullable()
      .meta({ description: 'Where it stands while it waits for a free slot, 1 for the next; else null.' }),
    app_conversation_id: hexId.nullable().meta({ description: 'Set at READY.' }),
    sandbox_id: z.string().nullable(),
    agent_server_url: z.string().nullable(),
    request: z.record(z.string(), z.unknown()),
    created_at: instantOut,
    updated_at: instantOut,
  })
  .meta({ id: 'StartTask' });
type StartTaskRecord = z.output<typeof startTaskSchema>;

async function startTaskRecords(
  application: Application,
  tasks: readonly (StartTask | null)[],
): Promise<(StartTaskRecord | null)[]> {
  const living = tasks.filter((task) => task !== null);
  const [first] = living;
  if (first === undefined) return tasks.map(() => null);
  const ids = living.map(({ conversationId }) => conversationId);
  const rows = await application.search.conversationsById(first.userId, ids);
  const rowOf = new Map(rows.flatMap((row) => (row === null ? [] : [[row.conversationId, row] as const])));
  const mayWait = living.some(({ conversationId: id }) => hasNoPlace(rowOf.get(id) ?? null));
  const positions = mayWait ? await positionsIn(application) : NO_POSITIONS;
  return tasks.map((task) => {
    if (task === null) return null;
    const { conversationId: id } = task;
    return recordOf(application, task, { row: rowOf.get(id) ?? null, position: positions.get(id) ?? null });
  });
}

const NO_POSITIONS: ReadonlyMap<string, number> = new Map();

function hasNoPlace(row: ConversationRow | null): boolean {
  return row?.startTask === 'WORKING' && row.sandboxId === null;
}

/** Where no start can wait for a slot, the store is not queried. */
function positionsIn({ world }: Application): Promise<ReadonlyMap<string, number>> | typeof NO_POSITIONS {
  const { onFull, capacity: limits } = world.deployment;
  return onFull === 'refuse' ? NO_POSITIONS : world.placement.positions({ limits, now: world.clock.now() });
}

const WITH_AGENT: ReadonlySet<StartTaskStatus> = new Set(['STARTING_CONVERSATION', 'READY']);

function recordOf(
  application: Application,
  task: StartTask,
  { row, position }: { readonly row: ConversationRow | null; readonly position: number | null },
): StartTaskRecord {
  const status = row?.startTask ?? 'WORKING';
  const sandboxId = status === 'WORKING' ? null : (row?.sandboxId ?? null);
  return {
    id: task.taskId,
    created_by_user_id: task.userId,
    status,
    detail: row?.startTaskDetail ?? null,
    queue_position: position,
    app_conversation_id: status === 'READY' ? task.conversationId : null,
    sandbox_id: sandboxId,
    agent_server_url:
      sandboxId !== null && WITH_AGENT.has(status) ? agentUrl(application, { sandboxId }) : null,
    request: task.request as Record<string, unknown>,
    created_at: isoInstant(task.createdAt),
    updated_at: isoInstant(row?.updatedAt ?? task.createdAt),
  };
}

const START_ERRORS = ['concurrency_limit_reached', 'secret_in_message', 'secret_reserved'] as const;

const filterSchema = z.object({
  conversation_id__eq: uuidIn.optional(),
  created_at__gte: instantIn.optional(),
});

const searchSchema = filterSchema.extend({
  sort_order: z
    .enum(['CREATED_AT', 'CREATED_AT_DESC', 'UPDATED_AT', 'UPDATED_AT_DESC'])
    .default('CREATED_AT_DESC'),
  page_id: pageIdIn,
  limit: limitIn,
});

/** An empty body, and null, is `{}`. */
const bodySchema = startRequestSchema
  .nullish()
  .transform((request) => request ?? startRequestSchema.parse({}));

export const START_ROUTES = [
  route({
    method: 'POST',
    url: '/api/v1/app-conversations',
    operation: 'start_app_conversation',
    summary: 'Starts a conversation and answers with its start task.',
    access: 'key',
    takesKey: true,
    body: bodySchema,
    result: startTaskSchema,
    errors: START_ERRORS,
    leadsTo: { conversation_id: '$request.body#/conversation_id' },
    handler: async (call) => await shown(call, await start(call)),
  }),
  route({
    method: 'POST',
    url: '/api/v1/app-conversations/stream-start',
    operation: 'stream_start_app_conversation',
    summary: 'Starts a conversation and streams every status of its start task as one JSON array.',
    access: 'key',
    takesKey: true,
    body: bodySchema,
    result: 'application/json',
    sends: z.array(startTaskSchema),
    errors: START_ERRORS,
    handler: async (call) => {
      const task = await start(call);
      await streamStart(call, () => shown(call, task));
      return null;
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/start-tasks',
    operation: 'get_start_tasks',
    summary: 'Start tasks by id, null for each that does not exist.',
    access: 'key',
    query: z.object({ ids: repeated(uuidIn, PAGE_LIMIT_MAX) }),
    result: z.array(startTaskSchema.nullable()),
    handler: async ({ application, caller, query }) =>
      await startTaskRecords(
        application,
        await application.startTasks.byIds(caller.userId, query.ids.map(hexOf)),
      ),
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/start-tasks/search',
    operation: 'search_start_tasks',
    summary: 'Start tasks by filter.',
    access: 'key',
    query: searchSchema,
    result: pageOf(startTaskSchema),
    handler: async ({ application, caller, query }) => {
      const found = await application.startTasks.search(caller.userId, filterOf(query), {
        ...pageRequest(query),
        descending: query.sort_order.endsWith('_DESC'),
      });
      return await answerPage(found, query.limit, {
        cursor: ({ createdAt, taskId }) => ({ value: createdAt, id: taskId }),
        records: (rows) => startTaskRecords(application, rows),
      });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/start-tasks/count',
    operation: 'count_start_tasks',
    summary: 'How many start tasks the filter finds.',
    access: 'key',
    query: filterSchema,
    result: z.int(),
    handler: ({ application, caller, query }) => application.startTasks.count(caller.userId, filterOf(query)),
  }),
] as const;

function filterOf(query: z.output<typeof filterSchema>) {
  const { conversation_id__eq: id, created_at__gte: from } = query;
  return {
    ...(id === undefined ? {} : { conversationId: conversationId(id) }),
    ...(from === undefined ? {} : { createdFrom: parseInstant(from) }),
  };
}

type StartCall = Call<undefined, undefined, StartRequest, Principal>;

function start({ application, caller, body, request }: StartCall): Promise<StartTask> {
  const idempotencyKey = idempotencyKeyOf(request);
  return startConversation(application, { userId: caller.userId, request: body, idempotencyKey });
}

async function shown({ application }: StartCall, task: StartTask): Promise<StartTaskRecord> {
  const [record] = await startTaskRecords(application, [task]);
  if (record === undefined || record === null)
    throw new Error('Cannot show the start task: it has no record');
  return record;
}

/**
 * Milliseconds between two polls: during the first of them a start that has a sandbox at hand finishes, later ones
 * and those of a start that waits for a slot are rarer.
 * A status that lasted less is skipped, as the record skips one that lasted no time.
 */
const POLL_MS = { first: 10, later: 100, waiting: 1_000 };
const FIRST_MS = 2_000;

function lookMs(sinceMs: number): number {
  return sinceMs < FIRST_MS ? POLL_MS.first : POLL_MS.later;
}

/** A start task sent as it moves: one JSON array that grows until READY or ERROR. */
async function streamStart(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  look: () => Promise<StartTaskRecord>,
): Promise<void> {
  const stream = new PassThrough();
  // Not awaited: it ends with the stream.
  void reply.type('application/json; charset=utf-8').send(stream);
  let shown = '';
  const began = performance.now();
  stream.write('[\n');
  for (let record = await look(); ; record = await look()) {
    const { status, queue_position: position } = record;
    const news = `${status} ${position}`;
    if (news !== shown) stream.write(`${shown === '' ? '' : ',\n'}${JSON.stringify(record)}`);
    shown = news;
    if (status === 'READY' || status === 'ERROR' || request.raw.socket.destroyed) break;
    await pause(position === null ? lookMs(performance.now() - began) : POLL_MS.waiting);
  }
  stream.end('\n]');
}
