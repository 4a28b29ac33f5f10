/**
 * How a conversation requests a place, and what follows when a sandbox refuses it.
 * Owns the orders to placement and their bound; which sandbox it is, is decided where attachments are kept (D16).
 */
import type { SandboxId } from '../ids.ts';
import { PLACEMENT_ATTEMPTS_MAX, PLACEMENT_TIMEOUT_MS, START_TASK_TIMEOUT_MS } from '../limits.ts';
import { pollAgainMs } from '../placement/line.ts';
import type { SandboxEvent } from '../sandbox/message.ts';
import type { ConversationEvent, ConversationOrder } from './message.ts';
import type { ConversationState } from './state.ts';
import { failStart, newRequestId, type ConversationContext } from './conversation-context.ts';

type EventOf<Type extends ConversationEvent['type']> = Extract<ConversationEvent, { readonly type: Type }>;

export function beginPlacement(context: ConversationContext): void {
  const { state } = context;
  state.phase = 'placing';
  state.startTask = 'WORKING';
  state.startDeadline = context.now + PLACEMENT_TIMEOUT_MS;
  state.placements += 1;
  state.awaiting = context.order(placementOrder(state));
}

function placementOrder({
  spec,
  excluded,
}: ConversationState): Extract<ConversationOrder, { type: 'placeConversation' }> {
  const { conversationId, userId, strategy, sandboxId, pool, host, runId } = spec;
  const order = { type: 'placeConversation', conversationId, userId, strategy, sandboxId, excluded } as const;
  return {
    ...order,
    ...(pool === undefined ? {} : { pool }),
    ...(host === undefined ? {} : { host }),
    ...(runId === null ? {} : { runId }),
  };
}

/** No attempt and no failure: it stands in the line, and requests a place again when there is room (D29). */
export function waitForSlot(context: ConversationContext, event: EventOf<'placementWaits'>): void {
  const { state } = context;
  if (state.awaiting !== event.commandId) return;
  removeLeftBehind(context, event);
  state.awaiting = null;
  state.waitsFor = event.detail;
  // A conversation is placed at its start alone: its age is how long it has waited.
  state.startDeadline = context.now + pollAgainMs(event.lookAgainMs, context.now - state.createdAt);
  if (state.roomOffered === true) askAgain(context);
}

/** Also while the placement is out, which may have been decided before this room was free. */
export function roomOffered(context: ConversationContext): void {
  const { state } = context;
  if (state.awaiting !== null) state.roomOffered = true;
  else if (state.waitsFor !== undefined) askAgain(context);
}

/** The same placement once more: its bound is for sandboxes that refuse. */
export function askAgain(context: ConversationContext): void {
  const { state } = context;
  state.roomOffered = undefined;
  state.startDeadline = context.now + START_TASK_TIMEOUT_MS;
  state.awaiting = context.order(placementOrder(state));
}

/** It has its place. */
export function leaveLine(context: ConversationContext): void {
  const { state } = context;
  state.waitsFor = undefined;
  state.roomOffered = undefined;
}

/** Given up while it waits: its place in the line is for the next. */
export function giveUpLine(context: ConversationContext): void {
  if (context.state.waitsFor === undefined) return;
  leaveLine(context);
  context.state.awaiting ??= context.order({ ...placementOrder(context.state), onlyLeaves: true });
}

/** Refused, and not placed again: it leaves, so that the last conversation there finds itself the last (D11). */
export function leaveRefused(context: ConversationContext): void {
  exclude(context);
  // One leaving more than placements: a placement that places all the same has no timer to end it either.
  if (context.state.placements > PLACEMENT_ATTEMPTS_MAX) return;
  context.state.placements += 1;
  context.state.awaiting = context.order({ ...placementOrder(context.state), onlyLeaves: true });
}

function exclude({ state }: ConversationContext): void {
  if (state.sandboxId !== null) state.excluded = [...state.excluded, state.sandboxId];
  state.sandboxId = null;
  state.spilled = undefined;
  state.sandbox = null;
}

/** Placement is tried a bounded number of times: a refusal loop has no timer to end it. */
export function placeAgain(context: ConversationContext): void {
  if (context.state.placements >= PLACEMENT_ATTEMPTS_MAX) {
    failStart(context, 'placement_failed', 'no sandbox accepted the conversation');
    return leaveRefused(context);
  }
  exclude(context);
  beginPlacement(context);
}

/** A sandbox that refused us and has no other conversation: decided with the placement that came after (D11). */
export function removeLeftBehind(
  context: ConversationContext,
  { leftBehind }: { readonly leftBehind?: SandboxId },
): void {
  if (leftBehind === undefined) return;
  const event: SandboxEvent = { type: 'deleteRequested', requestId: newRequestId(context) };
  context.order({ type: 'send', to: { machine: 'sandbox', id: leftBehind }, event });
}
