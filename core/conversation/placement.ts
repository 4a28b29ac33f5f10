/**
 * How a conversation asks for a place, and what becomes of one that was refused.
 * Owns the orders to placement and their bound; which sandbox it is, is decided where attachments are kept (D16).
 */
import type { SandboxId } from '../ids.ts';
import {
  CAPACITY_POLL_MS,
  PLACEMENT_ATTEMPTS_MAX,
  PLACEMENT_TIMEOUT_MS,
  START_TASK_TIMEOUT_MS,
} from '../limits.ts';
import type { SandboxEvent } from '../sandbox/message.ts';
import type { ConversationEvent, ConversationOrder } from './message.ts';
import type { ConversationState } from './state.ts';
import { failStart, newRequestId, type ConversationTurn } from './turn.ts';

type EventOf<Type extends ConversationEvent['type']> = Extract<ConversationEvent, { readonly type: Type }>;

export function beginPlacement(turn: ConversationTurn): void {
  const { state } = turn;
  state.phase = 'placing';
  state.startTask = 'WORKING';
  state.startDeadline = turn.now + PLACEMENT_TIMEOUT_MS;
  state.placements += 1;
  state.awaiting = turn.order(placementOrder(state));
}

function placementOrder({
  spec,
  excluded,
}: ConversationState): Extract<ConversationOrder, { type: 'placeConversation' }> {
  const { conversationId, userId, strategy, sandboxId, pool, runId } = spec;
  const order = { type: 'placeConversation', conversationId, userId, strategy, sandboxId, excluded } as const;
  return {
    ...order,
    ...(pool === undefined ? {} : { pool }),
    ...(runId === null ? {} : { runId }),
  };
}

/** No attempt and no failure: it stands in the line, and asks again when there is room (D29). */
export function waitForSlot(turn: ConversationTurn, event: EventOf<'placementWaits'>): void {
  const { state } = turn;
  if (state.awaiting !== event.commandId) return;
  removeLeftBehind(turn, event);
  state.awaiting = null;
  state.waitsFor = event.detail;
  state.startDeadline = turn.now + (event.lookAgainMs ?? CAPACITY_POLL_MS);
  if (state.roomOffered === true) askAgain(turn);
}

/** Also while the placement is out, which may have been too early for what is free now. */
export function roomOffered(turn: ConversationTurn): void {
  const { state } = turn;
  if (state.awaiting !== null) state.roomOffered = true;
  else if (state.waitsFor !== undefined) askAgain(turn);
}

/** The same placement once more: its bound is for sandboxes that refuse. */
export function askAgain(turn: ConversationTurn): void {
  const { state } = turn;
  state.roomOffered = undefined;
  state.startDeadline = turn.now + START_TASK_TIMEOUT_MS;
  state.awaiting = turn.order(placementOrder(state));
}

/** It has its place. */
export function leaveLine(turn: ConversationTurn): void {
  const { state } = turn;
  state.waitsFor = undefined;
  state.roomOffered = undefined;
}

/** Given up while it waits: its place in the line is for the next. */
export function giveUpLine(turn: ConversationTurn): void {
  if (turn.state.waitsFor === undefined) return;
  leaveLine(turn);
  turn.state.awaiting ??= turn.order({ ...placementOrder(turn.state), onlyLeaves: true });
}

/** Refused, and it will not be placed again: whoever leaves that sandbox last has to find itself the last (D11). */
export function leaveRefused(turn: ConversationTurn): void {
  exclude(turn);
  // One leaving more than placements: a placement that places all the same has no timer to end it either.
  if (turn.state.placements > PLACEMENT_ATTEMPTS_MAX) return;
  turn.state.placements += 1;
  turn.state.awaiting = turn.order({ ...placementOrder(turn.state), onlyLeaves: true });
}

function exclude({ state }: ConversationTurn): void {
  if (state.sandboxId !== null) state.excluded = [...state.excluded, state.sandboxId];
  state.sandboxId = null;
  state.spilled = undefined;
  state.sandbox = null;
}

/** Placement is tried a bounded number of times: a refusal loop has no timer to end it. */
export function placeAgain(turn: ConversationTurn): void {
  if (turn.state.placements >= PLACEMENT_ATTEMPTS_MAX) {
    failStart(turn, 'placement_failed', 'no sandbox accepted the conversation');
    return leaveRefused(turn);
  }
  exclude(turn);
  beginPlacement(turn);
}

/** A sandbox that refused us, and where nobody else is: decided with the placement that came after (D11). */
export function removeLeftBehind(
  turn: ConversationTurn,
  { leftBehind }: { readonly leftBehind?: SandboxId },
): void {
  if (leftBehind === undefined) return;
  const event: SandboxEvent = { type: 'deleteRequested', requestId: newRequestId(turn) };
  turn.order({ type: 'send', to: { machine: 'sandbox', id: leftBehind }, event });
}
