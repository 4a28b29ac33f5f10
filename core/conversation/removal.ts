/**
 * How a conversation ends, and what can still be said about it.
 * Owns deletion with its tombstone, and metadata; must not touch the workspace.
 */
import { remember, wasSeen } from '../requests.ts';
import type { ConversationEvent } from './message.ts';
import { abandonCommand, stopWatching, tellSandbox, newRequestId, type ConversationTurn } from './turn.ts';

type EventOf<Type extends ConversationEvent['type']> = Extract<ConversationEvent, { readonly type: Type }>;

/** Record and transcript go; a tombstone stays, so that a late callback never brings it back (D11). */
export function remove(turn: ConversationTurn, event: EventOf<'deleteRequested'>): void {
  const { state } = turn;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  abandonCommand(turn);
  stopWatching(turn);
  state.phase = 'deleting';
  state.queue = [];
  state.startDeadline = null;
  state.recheckAt = null;
  state.awaiting = turn.order({
    type: 'removeConversation',
    conversationId: state.birth.conversationId,
    generation: state.sandbox?.generation ?? 0,
  });
}

/** Whether the sandbox goes too was decided in the transaction that removed the conversation (D11). */
export function removed(turn: ConversationTurn, event: EventOf<'conversationRemoved'>): void {
  const { state } = turn;
  if (state.awaiting !== event.commandId) return;
  state.awaiting = null;
  tellSandbox(turn, { type: 'detached', conversationId: state.birth.conversationId });
  if (event.sandboxToRemove) tellSandbox(turn, { type: 'deleteRequested', requestId: newRequestId(turn) });
  state.phase = 'deleted';
}

/** Replaces the tags when they are present (D21). */
export function changeMetadata(turn: ConversationTurn, event: EventOf<'metadataChanged'>): void {
  const { state } = turn;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  const title = event.title ?? state.birth.title;
  state.birth = { ...state.birth, title, tags: event.tags ?? state.birth.tags };
}
