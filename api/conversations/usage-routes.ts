/**
 * What the calls of one conversation came to, by the proxy's rows: each of them, and by model.
 * Owns the routes and the shapes; no prompt and no completion is part of a row (D26), and reading resumes nothing.
 */
import { z } from 'zod';
import type { SpendRow } from '../../core/money/spend.ts';
import type { World } from '../../activities/world.ts';
import { pageFrom } from '../application/cursor.ts';
import { route } from '../application/route.ts';
import {
  instantIn,
  instantOut,
  isoInstant,
  limitIn,
  pageIdIn,
  pageOf,
  parseInstant,
} from '../application/wire.ts';
import { findConversation, OF_CONVERSATION } from './find-conversation.ts';

const nanoUsd = z.int().meta({ description: 'Nano-USD: a US dollar is 1,000,000,000.' });

const callSchema = z
  .object({
    id: z.string(),
    model: z.string(),
    state: z.enum(['open', 'succeeded', 'failed', 'cut', 'aborted', 'interrupted']),
    response_id: z
      .string()
      .nullable()
      .meta({ description: 'As `llm_response_id` of the events that it led to.' }),
    started_at: instantOut,
    ended_at: instantOut.nullable(),
    prompt_tokens: z.int().nullable(),
    completion_tokens: z.int().nullable(),
    cached_tokens: z.int().nullable(),
    cost_nano_usd: nanoUsd
      .nullable()
      .meta({ description: 'Null for a call without a price, which is not 0.' }),
  })
  .meta({ id: 'ModelCall' });

const modelUsageSchema = z
  .object({
    model: z.string(),
    calls: z.int(),
    failed: z.int(),
    unpriced: z.int(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    cached_tokens: z.int(),
    cost_nano_usd: nanoUsd,
  })
  .meta({ id: 'ModelUsage' });
type ModelUsage = z.output<typeof modelUsageSchema>;

export const USAGE_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/usage',
    operation: 'get_conversation_usage',
    summary: 'What the calls of a conversation came to, by model.',
    ...OF_CONVERSATION,
    result: z.object({ models: z.array(modelUsageSchema) }),
    handler: async ({ application, caller, params }) => {
      const row = await findConversation(application, caller, params.conversation_id);
      return { models: await usageByModel(application.world, row.conversationId) };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/calls/search',
    operation: 'search_conversation_calls',
    summary: 'Calls of models that the agent of a conversation made, in order.',
    ...OF_CONVERSATION,
    query: z.object({ started_at__gte: instantIn.optional(), page_id: pageIdIn, limit: limitIn }),
    result: pageOf(callSchema),
    handler: async ({ application, caller, params, query }) => {
      const row = await findConversation(application, caller, params.conversation_id);
      const { started_at__gte: from, page_id: pageId, limit } = query;
      const after = cursorOf(pageId);
      const found = await application.world.spend.search({
        sessionId: row.conversationId,
        ...(from === undefined ? {} : { from: parseInstant(from) }),
        ...(after === null ? {} : { after }),
        limit: limit + 1,
      });
      const { rows, nextPageId } = pageFrom(found, limit, (one) => `${one.startedAt} ${one.callId}`);
      return { items: rows.map(callOf), next_page_id: nextPageId };
    },
  }),
] as const;

function callOf(row: SpendRow): z.output<typeof callSchema> {
  return {
    id: row.callId,
    model: row.modelName,
    state: row.state,
    response_id: row.responseId,
    started_at: isoInstant(row.startedAt),
    ended_at: row.endedAt === null ? null : isoInstant(row.endedAt),
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    cached_tokens: row.cachedTokens,
    cost_nano_usd: row.cost,
  };
}

/** A page id that cannot be read begins at the start, as everywhere. */
function cursorOf(
  pageId: string | undefined,
): { readonly startedAt: number; readonly callId: string } | null {
  const found = /^(\d{1,15}) (.+)$/.exec(pageId ?? '');
  return found === null ? null : { startedAt: Number(found[1]), callId: found[2] ?? '' };
}

/** Rows of one reading; a long conversation has several. */
const PAGE_ROWS = 1_000;

/** By what they cost, dearest first. */
async function usageByModel({ spend }: World, sessionId: string): Promise<ModelUsage[]> {
  const byModel = new Map<string, ModelUsage>();
  for (let after: { startedAt: number; callId: string } | null = null; ;) {
    const page: readonly SpendRow[] = await spend.search({
      ...{ sessionId, limit: PAGE_ROWS },
      ...(after === null ? {} : { after }),
    });
    for (const row of page) byModel.set(row.modelName, withCall(byModel.get(row.modelName), row));
    const last = page.at(-1);
    if (page.length < PAGE_ROWS || last === undefined) break;
    after = { startedAt: last.startedAt, callId: last.callId };
  }
  return [...byModel.values()].sort((one, other) => other.cost_nano_usd - one.cost_nano_usd);
}

function withCall(sum: ModelUsage | undefined, row: SpendRow): ModelUsage {
  const isFailed = row.state !== 'succeeded' && row.state !== 'open';
  return {
    model: row.modelName,
    calls: (sum?.calls ?? 0) + 1,
    failed: (sum?.failed ?? 0) + (isFailed ? 1 : 0),
    unpriced: (sum?.unpriced ?? 0) + (row.cost === null && row.state !== 'open' ? 1 : 0),
    prompt_tokens: (sum?.prompt_tokens ?? 0) + (row.promptTokens ?? 0),
    completion_tokens: (sum?.completion_tokens ?? 0) + (row.completionTokens ?? 0),
    cached_tokens: (sum?.cached_tokens ?? 0) + (row.cachedTokens ?? 0),
    cost_nano_usd: (sum?.cost_nano_usd ?? 0) + (row.cost ?? 0),
  };
}
