/**
 * Sandboxes: create, search, get, pause, resume, delete, and what that would do to the conversations in it.
 * Owns the routes; what is asked of a sandbox is carried out after the answer.
 */
import { z } from 'zod';
import { sandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { SANDBOX_STATUSES } from '../../core/status.ts';
import type { SandboxFilter } from '../../ports/record-search.ts';
import { answerPage, pageRequest } from '../application/cursor.ts';
import { claimedKey, requestIdOf } from '../application/idempotency-key.ts';
import { route, type Call } from '../application/route.ts';
import type { Principal } from '../application/application.ts';
import { invalid } from '../application/validation.ts';
import {
  hexOf,
  limitIn,
  pageIdIn,
  pageOf,
  PAGE_LIMIT_MAX,
  repeated,
  sandboxParams,
  SUCCESS,
  successSchema,
  uuidIn,
  wordIn,
} from '../application/wire.ts';
import { spokenExecutionStatus } from '../application/words.ts';
import { recordsById, titleOf } from '../conversations/conversation-record.ts';
import { createSandbox, findSandbox, sendToSandbox } from './sandbox-commands.ts';
import { sandboxRecord, sandboxSchema, specIdOf } from './sandbox-record.ts';

const impactSchema = z
  .object({
    sandbox_id: z.string(),
    conversations: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        execution_status: spokenExecutionStatus.nullable(),
        queued_messages: z.int(),
      }),
    ),
    pause: z.string(),
    delete: z.string(),
  })
  .meta({ id: 'SandboxImpact' });

const insideSchema = z
  .object({
    sandbox_id: z.string(),
    total: z.int(),
    conversations: z.array(z.object({ id: z.string(), title: z.string() })),
  })
  .meta({ id: 'SandboxConversations' });

/** Titles of one sandbox; more are counted. */
const NEWEST_MAX = 3;

const filterSchema = z.object({
  status: repeated(wordIn(SANDBOX_STATUSES), SANDBOX_STATUSES.length).optional(),
  id__begins: z
    .string()
    .regex(/^[0-9a-fA-F-]{1,36}$/, 'Input should be the beginning of a UUID')
    .optional(),
});

export const SANDBOX_ROUTES = [
  route({
    method: 'POST',
    url: '/api/v1/sandboxes',
    operation: 'create_sandbox',
    summary: 'Creates a sandbox, which is kept until it is deleted.',
    access: 'key',
    takesKey: true,
    query: z.object({ sandbox_spec_id: z.string().max(200).optional() }),
    result: sandboxSchema,
    leadsTo: { sandbox_id: '$response.body#/id' },
    errors: ['concurrency_limit_reached', 'not_found'],
    handler: async (call) => {
      const { application, caller, query } = call;
      const wanted = query.sandbox_spec_id ?? specIdOf(application);
      if (wanted !== specIdOf(application)) throw new ParleyError('not_found', 'Sandbox spec not found');
      const key = await claimedKey(call, 'sandboxes');
      return sandboxRecord(application, await createSandbox(application, caller.userId, key));
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandboxes/search',
    operation: 'search_sandboxes',
    summary: 'Sandboxes by status and id, newest first or last.',
    access: 'key',
    query: filterSchema.extend({
      sort_order: z.enum(['CREATED_AT', 'CREATED_AT_DESC']).default('CREATED_AT_DESC'),
      page_id: pageIdIn,
      limit: limitIn,
    }),
    result: pageOf(sandboxSchema),
    leadsTo: { sandbox_id: '$response.body#/items/0/id' },
    handler: async ({ application, caller, query }) => {
      const page = { ...pageRequest(query), descending: query.sort_order === 'CREATED_AT_DESC' };
      const found = await application.search.sandboxes(caller.userId, page, filterOf(query));
      return await answerPage(found, query.limit, {
        cursor: (row) => ({ value: row.createdAt, id: row.sandboxId }),
        records: (rows) => Promise.resolve(rows.map((row) => sandboxRecord(application, row))),
      });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandboxes/count',
    operation: 'count_sandboxes',
    summary: 'How many sandboxes the filter finds.',
    access: 'key',
    query: filterSchema,
    result: z.int(),
    handler: ({ application, caller, query }) =>
      application.search.countSandboxes(caller.userId, filterOf(query)),
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandboxes/conversations',
    operation: 'list_sandbox_conversations',
    summary: 'How many conversations are in each of these sandboxes, and the three that changed last.',
    access: 'key',
    query: z.object({ id: repeated(uuidIn, PAGE_LIMIT_MAX) }),
    result: z.array(insideSchema),
    handler: async ({ application, caller, query }) => {
      const ids = query.id.map((id) => sandboxId(hexOf(id)));
      const inside = await application.overview.insideOf(caller.userId, ids, NEWEST_MAX);
      return ids.map((id) => {
        const { total, newest } = inside.get(id) ?? { total: 0, newest: [] };
        const conversations = newest.map(({ row }) => ({ id: row.conversationId, title: titleOf(row) }));
        return { sandbox_id: id, total, conversations };
      });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandboxes',
    operation: 'get_sandboxes',
    summary: 'Sandboxes by id, null for each that does not exist.',
    access: 'key',
    query: z.object({ id: repeated(uuidIn, PAGE_LIMIT_MAX) }),
    result: z.array(sandboxSchema.nullable()),
    handler: async ({ application, caller, query }) => {
      const ids = query.id.map((id) => sandboxId(hexOf(id)));
      const rows = await application.search.sandboxesById(caller.userId, ids);
      return rows.map((row) => (row === null ? null : sandboxRecord(application, row)));
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandboxes/:sandbox_id/impact',
    operation: 'get_sandbox_impact',
    summary: 'Which conversations a pause or deletion would meet.',
    access: 'key',
    params: sandboxParams,
    result: impactSchema,
    errors: ['not_found', 'sandbox_missing'],
    handler: async ({ application, caller, params }) => {
      const row = await findSandbox(application, caller, params.sandbox_id);
      if (row.status === 'MISSING')
        throw new ParleyError('sandbox_missing', 'Cannot show what would happen: the sandbox is gone');
      const attached = await application.world.records.conversations({ sandboxId: row.sandboxId });
      const ids = attached.map(({ conversationId }) => conversationId);
      const records = await recordsById(application, caller.userId, ids);
      const conversations = records.flatMap((record) => (record === null ? [] : [record]));
      return {
        sandbox_id: row.sandboxId,
        conversations: conversations.map(({ id, title, execution_status, queued_messages }) => ({
          id,
          title,
          execution_status,
          queued_messages,
        })),
        pause: 'Every agent in it stops; files and transcripts are kept, and the next access resumes it.',
        delete: 'Its files are gone for good, and its conversations become read-only.',
      };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/sandboxes/:sandbox_id/pause',
    operation: 'pause_sandbox',
    summary: 'Releases CPU and memory, and keeps the files.',
    access: 'key',
    takesKey: true,
    params: sandboxParams,
    result: successSchema,
    errors: ['not_found', 'sandbox_error'],
    handler: (call) => tell(call, 'pause'),
  }),
  route({
    method: 'POST',
    url: '/api/v1/sandboxes/:sandbox_id/resume',
    operation: 'resume_sandbox',
    summary: 'Brings a released sandbox back.',
    access: 'key',
    takesKey: true,
    params: sandboxParams,
    result: successSchema,
    errors: ['not_found', 'sandbox_error', 'concurrency_limit_reached'],
    handler: (call) => tell(call, 'resume'),
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/sandboxes/:sandbox_id',
    operation: 'delete_sandbox',
    summary: 'Archives the workspace, then removes it; transcripts stay.',
    access: 'key',
    takesKey: true,
    params: sandboxParams,
    query: z.object({ sandbox_id: uuidIn.optional() }),
    result: successSchema,
    errors: ['not_found'],
    handler: async (call) => {
      const { sandbox_id: again } = call.query;
      if (again !== undefined && hexOf(again) !== hexOf(call.params.sandbox_id))
        throw invalid(['query', 'sandbox_id'], 'The id differs from that of the path');
      return await tell(call, 'delete');
    },
  }),
] as const;

function filterOf({ status, id__begins: begins }: z.output<typeof filterSchema>): SandboxFilter {
  return {
    ...(status === undefined ? {} : { statuses: status }),
    ...(begins === undefined ? {} : { idBegins: hexOf(begins) }),
  };
}

type SandboxCall<Query> = Call<z.output<typeof sandboxParams>, Query, undefined, Principal>;

async function tell<Query>(
  call: SandboxCall<Query>,
  kind: 'pause' | 'resume' | 'delete',
): Promise<typeof SUCCESS> {
  const { application, caller, params } = call;
  const row = await findSandbox(application, caller, params.sandbox_id);
  const requestId = await requestIdOf(call, `sandbox/${row.sandboxId}`);
  await sendToSandbox(application, row, { kind, requestId });
  return SUCCESS;
}
