/**
 * A conversation's events: messages in, answers to held actions in, everything out.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { answerConfirmation, sendMessage } from '../conversation/conversation-commands.ts';
import { withoutNulls, type ConversationEvent } from '../conversation/event.ts';
import { HttpError, invalid } from '../serve/http-error.ts';
import { hyphenatedUuid } from '../ids.ts';
import { maskEvent } from '../conversation/masked-record.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { parseTimestampUs } from '../timestamp.ts';
import { messageSchema, parsePart } from '../serve/wire-schema.ts';
import { SUCCESS, findConversation } from './find-conversation.ts';
import { limitSchema, pageOf, timeSchema } from './page.ts';

const searchSchema = z.object({
  page_id: z.string().optional(),
  limit: limitSchema,
  kind: z.string().optional(),
  source: z.string().optional(),
  body: z.string().max(1_000).optional(),
  sort_order: z.enum(['TIMESTAMP', 'TIMESTAMP_DESC']).default('TIMESTAMP'),
  timestamp__gte: timeSchema.optional(),
  timestamp__lt: timeSchema.optional(),
});
type SearchQuery = z.infer<typeof searchSchema>;

const answerSchema = z.object({
  accept: z.boolean(),
  reason: z.string().max(10_000).default('User rejected the action.'),
});

export function addEventRoutes(server: FastifyInstance, context: ServerContext): void {
  const base = '/api/conversations/:id/events';
  server.post(base, (request) => {
    const entry = findConversation(context, request);
    const messageId = idempotencyKey(request);
    const message = parsePart(messageSchema, request.body, 'body');
    sendMessage(entry, message, { messageId, run: message.run ?? false });
    return SUCCESS;
  });
  server.post(`${base}/respond_to_confirmation`, (request) => {
    const entry = findConversation(context, request);
    answerConfirmation(entry, parsePart(answerSchema, request.body, 'body'));
    return SUCCESS;
  });
  server.get(`${base}/search`, (request) => {
    const { conversation } = findConversation(context, request);
    const query = parsePart(searchSchema, request.query, 'query');
    const page = pageOf(matching(conversation.log.all(), query), {
      pageId: query.page_id ?? null,
      limit: query.limit,
      idOf: (event) => event.id,
    });
    // Masked once more: a secret may have been given after the event was written.
    return { ...page, items: page.items.map((event) => withoutNulls(maskEvent(event, context.vault))) };
  });
  server.get(`${base}/count`, (request) => {
    const { conversation } = findConversation(context, request);
    return matching(conversation.log.all(), parsePart(searchSchema, request.query, 'query')).length;
  });
  server.get(`${base}/:eventId`, (request) => {
    const { conversation } = findConversation(context, request);
    const { eventId } = request.params as { readonly eventId: string };
    const event = conversation.log.get(hyphenatedUuid(eventId) ?? eventId);
    if (event === null) throw new HttpError(404, 'Not Found');
    return maskEvent(event, context.vault);
  });
}

/** @throws HttpError 422 the header is there and is no UUID */
function idempotencyKey(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const id = typeof header === 'string' ? hyphenatedUuid(header) : null;
  if (id === null) throw invalid(['header', 'Idempotency-Key'], 'Input should be a valid UUID');
  return id;
}

function matching(events: readonly ConversationEvent[], query: SearchQuery): readonly ConversationEvent[] {
  const { timestamp__gte: fromUs, timestamp__lt: beforeUs, body } = query;
  const wanted = body?.toLowerCase();
  const found = events.filter((event) => {
    if (query.kind !== undefined && event.kind !== query.kind) return false;
    if (query.source !== undefined && event.source !== query.source) return false;
    const timeUs = parseTimestampUs(event.timestamp) ?? 0;
    if (fromUs !== undefined && timeUs < fromUs) return false;
    if (beforeUs !== undefined && timeUs >= beforeUs) return false;
    return wanted === undefined || JSON.stringify(event).toLowerCase().includes(wanted);
  });
  return query.sort_order === 'TIMESTAMP' ? found : found.reverse();
}
