/**
 * From an id in a path to the caller's own conversation.
 * Owns that another user's looks like a missing one (D4).
 */
import { conversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { Application, Principal } from '../application/application.ts';
import { conversationParams } from '../application/wire.ts';

/** What every route has whose address names a conversation of the caller. */
export const OF_CONVERSATION = {
  access: 'key',
  params: conversationParams,
  errors: ['not_found'],
} as const;

/** @throws ParleyError not_found */
export async function findConversation(
  { search }: Application,
  { userId }: Pick<Principal, 'userId'>,
  id: string,
): Promise<ConversationRow> {
  const [row] = await search.conversationsById(userId, [conversationId(id)]);
  if (row !== undefined && row !== null) return row;
  throw new ParleyError('not_found', 'Conversation not found');
}
