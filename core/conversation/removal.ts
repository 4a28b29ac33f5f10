/**
 * How a conversation ends, and what can still be changed about it.
 * Owns deletion with its tombstone, and metadata; must not touch the workspace.
 */
import { START_TASK_TIMEOUT_MS } from '../limits.ts';
import { remember, wasSeen } from '../machine/requests.ts';
import type { ConversationEvent } from './message.ts';
import { giveUpLine, removeLeftBehind } from './placement.ts';
import type { ConversationState } from './state.ts';
import {
  abandonCommand,
  newRequestId,
  stopWatching,
  sendToSandbox,
  type ConversationContext,
} from './conversation-context.ts';

type EventOf<Type extends ConversationEvent['type']> = Extract<ConversationEvent, { readonly type: Type }>;

/** Record and transcript go; a tombstone stays, so that a late callback never brings it back (D11). */
export function remove(context: ConversationContext, event: EventOf<'deleteRequested'>): void {
  const { state } = context;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  stopWatching(context);
  state.queue = [];
  state.recheckAt = null;
  giveUpLine(context);
  const isPlacing = isPlacementOut(state);
  state.phase = 'deleting';
  if (!isPlacing) return orderRemoval(context);
  // One that waits for a place gets none any more.
  state.startTask = 'ERROR';
  // Its place may be taken already: without the answer the sandbox made for it would never start and keep its slot.
  state.startDeadline = context.now + START_TASK_TIMEOUT_MS;
}

/** The placement, or the attachment it led to, has not been answered. */
function isPlacementOut(state: ConversationState): boolean {
  const places = state.phase === 'placing' || state.phase === 'startFailed';
  return state.attachRequestId !== null || (places && state.awaiting !== null);
}

function orderRemoval(context: ConversationContext): void {
  const { state } = context;
  abandonCommand(context);
  state.attachRequestId = null;
  state.startDeadline = null;
  state.awaiting = context.order({
    type: 'removeConversation',
    conversationId: state.spec.conversationId,
    generation: state.sandbox?.generation ?? 0,
  });
}

export function removeUnplaced(context: ConversationContext, event: EventOf<'placementRefused'>): void {
  if (context.state.awaiting !== event.commandId) return;
  removeLeftBehind(context, event);
  orderRemoval(context);
}

export function removeAttached(context: ConversationContext, event: EventOf<'attachAnswered'>): void {
  if (context.state.attachRequestId === event.requestId) orderRemoval(context);
}

/** No answer says where it was placed: the removal does not wait for ever (D13). */
export function removeAnyway(context: ConversationContext): void {
  const { startDeadline } = context.state;
  if (startDeadline !== null && context.now >= startDeadline) orderRemoval(context);
}

/** Whether the sandbox is removed, too, was decided in the transaction that removed the conversation (D11). */
export function removed(context: ConversationContext, event: EventOf<'conversationRemoved'>): void {
  const { state } = context;
  if (state.awaiting !== event.commandId) return;
  state.awaiting = null;
  sendToSandbox(context, { type: 'detached', conversationId: state.spec.conversationId });
  if (event.sandboxToRemove)
    sendToSandbox(context, { type: 'deleteRequested', requestId: newRequestId(context) });
  state.phase = 'deleted';
}

/** Replaces the tags when they are present (D21). */
export function changeMetadata(context: ConversationContext, event: EventOf<'metadataChanged'>): void {
  const { state } = context;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  const title = event.title ?? state.spec.title;
  state.spec = { ...state.spec, title, tags: event.tags ?? state.spec.tags };
}
