/**
 * Conversations as records: start, read, search, change, delete.
 */
import { resolve } from 'node:path';

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { EXECUTION_STATUSES, isUserMessage } from '../conversation/conversation.ts';
import { armLlm, patchConversation, sendMessage } from '../conversation/conversation-commands.ts';
import type { Entry } from '../conversation/conversation-registry.ts';
import { HttpError, invalid } from '../serve/http-error.ts';
import { McpConfigError, expandServer, literalSecrets } from '../mcp/mcp-servers.ts';
import { equipmentOf, type Equipment } from '../plugins/merge-plugins.ts';
import { hyphenatedUuid } from '../ids.ts';
import { PAGE_ROWS_MAX } from '../limits.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { startRequestSchema, type StartRequest } from '../conversation/start-request.ts';
import { parsePart, tagsSchema } from '../serve/wire-schema.ts';
import { SUCCESS, findConversation } from './find-conversation.ts';
import { limitSchema, pageOf } from './page.ts';

const searchSchema = z.object({
  page_id: z.string().optional(),
  limit: limitSchema,
  status: z
    .string()
    .transform((status) => status.toLowerCase())
    .pipe(z.enum(EXECUTION_STATUSES))
    .optional(),
  sort_order: z
    .enum(['CREATED_AT', 'UPDATED_AT', 'CREATED_AT_DESC', 'UPDATED_AT_DESC'])
    .default('CREATED_AT_DESC'),
});
type SearchQuery = z.infer<typeof searchSchema>;

const idsSchema = z.object({
  ids: z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((ids) => (typeof ids === 'string' ? [ids] : ids))
    .refine((ids) => ids.length <= PAGE_ROWS_MAX, { message: `At most ${PAGE_ROWS_MAX} ids` }),
});

const patchSchema = z.object({
  title: z.string().trim().min(1).max(200).nullish(),
  tags: tagsSchema.nullish(),
});

export function addConversationRoutes(server: FastifyInstance, context: ServerContext): void {
  server.post('/api/conversations', async (request, reply) => {
    const body = parsePart(startRequestSchema, request.body, 'body');
    const equipment = await equipmentOf(body, {
      cacheDir: context.config.pluginsDir,
      workspace: workspaceToRead(context, body),
    });
    const { entry, created } = openConversation(context, body, equipment);
    return reply.code(created ? 201 : 200).send(shown(context, entry, request));
  });
  server.get('/api/conversations', (request) => {
    const { ids } = parsePart(idsSchema, request.query, 'query');
    return ids.map((text) => {
      const entry = context.registry.get(hyphenatedUuid(text) ?? '');
      return entry === null ? null : shown(context, entry, request);
    });
  });
  server.get('/api/conversations/search', (request) => {
    const query = parsePart(searchSchema, request.query, 'query');
    const page = pageOf(matching(context, query), {
      pageId: query.page_id === undefined ? null : hyphenatedUuid(query.page_id),
      limit: query.limit,
      idOf: (entry) => entry.conversation.id,
    });
    return { ...page, items: page.items.map((entry) => shown(context, entry, request)) };
  });
  server.get('/api/conversations/count', (request) => {
    return matching(context, parsePart(searchSchema, request.query, 'query')).length;
  });
  server.get('/api/conversations/:id', (request) =>
    shown(context, findConversation(context, request), request),
  );
  server.patch('/api/conversations/:id', (request) => patch(context, request));
  server.delete('/api/conversations/:id', async (request) => {
    await context.registry.remove(findConversation(context, request));
    return SUCCESS;
  });
}

/** Skills are long: they are sent to callers that request them. */
const shownSchema = z.object({ include_skills: z.enum(['true', 'false']).default('false') });

function shown(context: ServerContext, entry: Entry, request: FastifyRequest): Record<string, unknown> {
  const { include_skills: wanted } = parsePart(shownSchema, request.query, 'query');
  return context.info(entry, { withSkills: wanted === 'true' });
}

/** A conversation that is there has read its workspace. */
function workspaceToRead({ registry, config }: ServerContext, body: StartRequest): string | null {
  const { conversation_id: id, load_project: wanted, workspace } = body;
  if (!wanted || (id != null && registry.get(id) !== null)) return null;
  return resolve(config.workspaceDir, workspace.working_dir ?? '.');
}

/**
 * Makes the conversation, or arms the one that exists with the keys and secrets of the request. A first message that
 * a crash kept from the log is appended by the repeat.
 */
function openConversation(
  { registry, vault, world, announce }: ServerContext,
  body: StartRequest,
  equipment: Equipment,
): { readonly entry: Entry; readonly created: boolean } {
  const id = body.conversation_id ?? world.uuid();
  const known = registry.get(id);
  // Before anything is written, so that nothing is written unmasked.
  vault.set(id, { ...body.agent.agent_context?.secrets, ...body.secrets });
  if (body.agent.llm.api_key !== null) vault.mask(id, body.agent.llm.api_key);
  for (const value of literalSecrets(equipment.mcpServers)) vault.mask(id, value);
  if (body.secrets_complete) requirePlaceholders(vault, id, { equipment, isKnown: known !== null });
  const entry = known ?? registry.create(id, body, equipment);
  entry.tools.arm(equipment.mcpServers);
  const { api_key: apiKey, base_url: baseUrl, extra_headers: extraHeaders } = body.agent.llm;
  armLlm(entry.conversation, { apiKey, baseUrl, extraHeaders }, vault);
  if (known === null) announce(entry);
  const { initial_message: first } = body;
  if (first) {
    const messageId = entry.conversation.log.all().find(isUserMessage)?.id ?? null;
    // Left out, `run` means true; an explicit false leaves the agent idle (D18).
    sendMessage(entry, first, { messageId, run: first.run !== false });
  }
  return { entry, created: known === null };
}

/** @throws HttpError 422 a tool server names a secret that is not there; the answer names it, and never a value */
function requirePlaceholders(
  vault: ServerContext['vault'],
  id: string,
  given: { readonly equipment: Equipment; readonly isKnown: boolean },
): void {
  try {
    for (const [name, server] of Object.entries(given.equipment.mcpServers))
      if (server.enabled) expandServer(name, server, vault.environmentOf(id));
  } catch (error) {
    if (!(error instanceof McpConfigError)) throw error;
    if (!given.isKnown) vault.forget(id);
    throw invalid(['body', 'secrets'], error.message);
  }
}

function matching({ registry }: ServerContext, query: SearchQuery): Entry[] {
  const found = registry.all().filter(({ conversation }) => {
    return query.status === undefined || conversation.status === query.status;
  });
  const byUpdate = query.sort_order.startsWith('UPDATED_AT');
  const key = ({ conversation }: Entry): string =>
    `${byUpdate ? conversation.updatedAt : conversation.meta.created_at} ${conversation.id}`;
  const sorted = found.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return query.sort_order.endsWith('_DESC') ? sorted.reverse() : sorted;
}

function patch(context: ServerContext, request: FastifyRequest): typeof SUCCESS {
  const entry = findConversation(context, request);
  if (request.body === null || request.body === undefined) throw new HttpError(422, 'A body is required');
  patchConversation(entry, parsePart(patchSchema, request.body, 'body'));
  return SUCCESS;
}
