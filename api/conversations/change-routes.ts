/**
 * Changing and deleting conversations.
 * Owns the routes; tags are replaced when they are there (D21), and a deletion leaves a tombstone (D11).
 */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { Application } from '../application/application.ts';
import { route } from '../application/route.ts';
import { SUCCESS, successSchema } from '../application/wire.ts';
import { conversationSchema, recordOfRow } from './conversation-record.ts';
import { findConversation, OF_CONVERSATION } from './find-conversation.ts';
import { tagsIn } from './start-request.ts';

export const CONVERSATION_CHANGE_ROUTES = [
  route({
    method: 'PATCH',
    url: '/api/v1/app-conversations/:conversation_id',
    operation: 'update_app_conversation',
    summary: 'Replaces title or tags; what is not named stays.',
    ...OF_CONVERSATION,
    body: z.object({ title: z.string().trim().min(1).max(200).nullish(), tags: tagsIn.nullish() }),
    result: conversationSchema,
    handler: async ({ application, caller, params, body }) => {
      const before = await findConversation(application, caller, params.conversation_id);
      const { title = null, tags = null } = body;
      const after =
        title === null && tags === null ? before : await change(application, before, { title, tags });
      return await recordOfRow(application, after);
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/app-conversations/:conversation_id',
    operation: 'delete_app_conversation',
    summary: 'Deletes a conversation, and its sandbox when placement made it for nobody else.',
    ...OF_CONVERSATION,
    result: successSchema,
    handler: async ({ application, caller, params }) => {
      const { conversationId: id } = await findConversation(application, caller, params.conversation_id);
      const requestId = application.randomHex(32);
      await application.requests.deliver({
        to: { machine: 'conversation', id },
        event: { type: 'deleteRequested', requestId },
      });
      return SUCCESS;
    },
  }),
] as const;

/** On Temporal a record follows its acknowledgement; this long it may take. */
const CHANGE_MS_MAX = 10_000;
const POLL_MS = 20;

async function change(
  { requests, world, randomHex }: Application,
  { conversationId: id, sequence, ...before }: ConversationRow,
  metadata: { readonly title: string | null; readonly tags: ConversationRow['tags'] | null },
): Promise<ConversationRow> {
  await requests.deliver({
    to: { machine: 'conversation', id },
    event: { type: 'metadataChanged', requestId: randomHex(32), ...metadata },
  });
  const until = world.clock.now() + CHANGE_MS_MAX;
  for (;;) {
    const row = await world.records.conversation(id);
    if (row === null) throw new ParleyError('not_found', 'Conversation not found');
    if (isChanged(row, metadata) || world.clock.now() > until) return row;
    await pause(POLL_MS);
  }

  function isChanged(row: ConversationRow, { title, tags }: typeof metadata): boolean {
    if (row.sequence === sequence) return false;
    const isTitled = row.title === (title ?? before.title);
    return isTitled && (tags === null || JSON.stringify(row.tags) === JSON.stringify(tags));
  }
}
