/**
 * From the path of a request to its conversation.
 */
import type { FastifyRequest } from 'fastify';

import type { Entry } from '../conversation/conversation-registry.ts';
import { HttpError } from '../serve/http-error.ts';
import { hyphenatedUuid } from '../ids.ts';
import type { ServerContext } from '../serve/server-context.ts';

/** @throws HttpError 422 the id is no UUID, 404 there is no such conversation */
export function findConversation(context: ServerContext, request: FastifyRequest): Entry {
  const { id: text } = request.params as { readonly id: string };
  const id = hyphenatedUuid(text);
  if (id === null) {
    throw new HttpError(422, [
      { type: 'uuid_parsing', loc: ['path', 'conversation_id'], msg: 'Input should be a valid UUID' },
    ]);
  }
  const entry = context.registry.get(id);
  if (entry === null) throw new HttpError(404, `Conversation not found: ${id}`);
  return entry;
}

export const SUCCESS = { success: true } as const;
