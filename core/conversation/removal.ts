/**
 * How a conversation ends, and what can still be said about it.
 * Owns deletion with its tombstone, and metadata; must not touch the workspace.
 */
import { START_TASK_TIMEOUT_MS } from '../limits.ts';
import { remember, wasSeen } from '../machine/requests.ts';
import type { ConversationEvent } from './message.ts';
import { giveUpLine, removeLeftBehind } from './placement.ts';
import type { ConversationState } from './state.ts';
import { abandonCommand, newRequestId, stopWatching, tellSandbox, type ConversationTurn } from './turn.ts';

type EventOf<Type extends ConversationEvent['type']> = Extract<ConversationEvent, { readonly type: Type }>;

/** Record and transcript go; a tombstone stays, so that a late callback never brings it back (D11). */
export function remove(turn: ConversationTurn, event: EventOf<'deleteRequested'>): void {
  const { state } = turn;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  stopWatching(turn);
  state.queue = [];
  state.recheckAt = null;
  giveUpLine(turn);
  const isPlacing = isPlacementOut(state);
  state.phase = 'deleting';
  if (!isPlacing) return orderRemoval(turn);
  // One that waits for a place gets none any more.
  state.startTask = 'ERROR';
  // Its place may be taken already: first hear where, or the sandbox made for it would stay unborn and hold a slot.
  state.startDeadline = turn.now + START_TASK_TIMEOUT_MS;
}

/** The placement, or the attachment it led to, has not been answered. */
function isPlacementOut(state: ConversationState): boolean {
  const places = state.phase === 'placing' || state.phase === 'startFailed';
  return state.attachRequestId !== null || (places && state.awaiting !== null);
}

function orderRemoval(turn: ConversationTurn): void {
  const { state } = turn;
  abandonCommand(turn);
  state.attachRequestId = null;
  state.startDeadline = null;
  state.awaiting = turn.order({
    type: 'removeConversation',
    conversationId: state.spec.conversationId,
    generation: state.sandbox?.generation ?? 0,
  });
}

export function removeUnplaced(turn: ConversationTurn, event: EventOf<'placementRefused'>): void {
  if (turn.state.awaiting !== event.commandId) return;
  removeLeftBehind(turn, event);
  orderRemoval(turn);
}

export function removeAttached(turn: ConversationTurn, event: EventOf<'attachAnswered'>): void {
  if (turn.state.attachRequestId === event.requestId) orderRemoval(turn);
}

/** Nobody said where it was placed: the removal does not wait for ever (D13). */
export function removeAnyway(turn: ConversationTurn): void {
  const { startDeadline } = turn.state;
  if (startDeadline !== null && turn.now >= startDeadline) orderRemoval(turn);
}

/** Whether the sandbox goes too was decided in the transaction that removed the conversation (D11). */
export function removed(turn: ConversationTurn, event: EventOf<'conversationRemoved'>): void {
  const { state } = turn;
  if (state.awaiting !== event.commandId) return;
  state.awaiting = null;
  tellSandbox(turn, { type: 'detached', conversationId: state.spec.conversationId });
  if (event.sandboxToRemove) tellSandbox(turn, { type: 'deleteRequested', requestId: newRequestId(turn) });
  state.phase = 'deleted';
}

/** Replaces the tags when they are present (D21). */
export function changeMetadata(turn: ConversationTurn, event: EventOf<'metadataChanged'>): void {
  const { state } = turn;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  const title = event.title ?? state.spec.title;
  state.spec = { ...state.spec, title, tags: event.tags ?? state.spec.tags };
}
