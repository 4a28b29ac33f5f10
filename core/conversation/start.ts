/**
 * How a conversation comes up: placement, attachment, the sandbox, the steps of D18, READY.
 * Owns the handlers of the start phases; must not deliver messages.
 */
import { START_TASK_TIMEOUT_MS } from '../limits.ts';
import { remember, wasSeen } from '../machine/requests.ts';
import type { ConversationEvent } from './message.ts';
import {
  askAgain,
  beginPlacement,
  giveUpLine,
  leaveLine,
  leaveRefused,
  placeAgain,
  removeLeftBehind,
} from './placement.ts';
import { takeReport } from './report.ts';
import { pursueWork } from './work.ts';
import {
  abandonCommand,
  acceptSnapshot,
  askForResume,
  beginStep,
  failStart,
  isOver,
  isStartStep,
  newRequestId,
  releaseSandbox,
  stepAfter,
  sendToSandbox,
  type ConversationContext,
  type StepFacts,
} from './conversation-context.ts';

export type EventOf<Type extends ConversationEvent['type']> = Extract<
  ConversationEvent,
  { readonly type: Type }
>;
type Answer = { readonly commandId: string };

function isAwaited({ state }: ConversationContext, event: Answer): boolean {
  return state.awaiting === event.commandId;
}

export function begin(context: ConversationContext): void {
  beginPlacement(context);
}

/** The slot is reserved; the sandbox itself must confirm the attachment, since it may be leaving. */
export function placed(context: ConversationContext, event: EventOf<'placed'>): void {
  if (!isAwaited(context, event)) return;
  removeLeftBehind(context, event);
  leaveLine(context);
  context.state.phase = 'attaching';
  context.state.startDeadline = context.now + START_TASK_TIMEOUT_MS;
  requestAttachment(context, event);
}

/** Also for a conversation that has ended meanwhile: the sandbox made for it needs the request to be created. */
export function placedTooLate(context: ConversationContext, event: EventOf<'placed'>): void {
  if (!isAwaited(context, event)) return;
  removeLeftBehind(context, event);
  requestAttachment(context, event);
  // A removal that came before the answer could overtake the request, and the sandbox would be created unused.
  if (context.state.phase === 'deleting') context.state.startDeadline = context.now + START_TASK_TIMEOUT_MS;
}

function requestAttachment(context: ConversationContext, event: EventOf<'placed'>): void {
  const { state } = context;
  state.awaiting = null;
  state.sandboxId = event.sandboxId;
  state.spilled = event.spilled;
  state.attachRequestId = newRequestId(context);
  sendToSandbox(context, {
    type: 'attachRequested',
    requestId: state.attachRequestId,
    conversationId: state.spec.conversationId,
    // A pool belongs to its run: what of it was released meanwhile is resumed, as what is named explicitly.
    explicit: state.spec.sandboxId !== null || state.spec.pool !== undefined,
    spec: event.spec,
  });
}

export function placementRefused(context: ConversationContext, event: EventOf<'placementRefused'>): void {
  if (!isAwaited(context, event)) return;
  removeLeftBehind(context, event);
  context.state.awaiting = null;
  leaveLine(context);
  failStart(context, event.code, event.reason);
}

export function placementRefusedTooLate(
  context: ConversationContext,
  event: EventOf<'placementRefused'>,
): void {
  if (!isAwaited(context, event)) return;
  removeLeftBehind(context, event);
  context.state.awaiting = null;
}

/** The start has failed already; what its sandbox is doing stays visible all the same. */
export function attachAnsweredTooLate(context: ConversationContext, event: EventOf<'attachAnswered'>): void {
  const { state } = context;
  if (state.attachRequestId !== event.requestId) return;
  state.attachRequestId = null;
  if (!event.accepted) return leaveRefused(context);
  acceptSnapshot(context, event.sandbox);
  releaseSandbox(context);
}

/** An interruption (a run's cancel, a deadline) gives the start up: a later phase would not receive it. */
export function giveUp(context: ConversationContext, event: EventOf<'interruptRequested'>): void {
  const { state } = context;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  failStart(context, 'agent_refused', 'the conversation was interrupted');
  giveUpLine(context);
}

/** Only the answer to the latest request counts: an older refusal is about an older try. */
export function attachAnswered(context: ConversationContext, event: EventOf<'attachAnswered'>): void {
  const { state } = context;
  if (state.attachRequestId !== event.requestId) return;
  state.attachRequestId = null;
  if (!event.accepted) return placeAgain(context);
  acceptSnapshot(context, event.sandbox);
  state.phase = 'waitingForSandbox';
  state.startTask = 'WAITING_FOR_SANDBOX';
  pursueStart(context);
}

/** Notices may overtake the answer to the attachment; they are kept, and say nothing about acceptance. */
export function noticeWhileAttaching(context: ConversationContext, event: EventOf<'sandboxNoticed'>): void {
  acceptSnapshot(context, event.sandbox);
}

export function noticeWhileStarting(context: ConversationContext, event: EventOf<'sandboxNoticed'>): void {
  if (acceptSnapshot(context, event.sandbox)) pursueStart(context);
}

/** What the start still needs, decided again on every accepted notice. */
export function pursueStart(context: ConversationContext): void {
  const { state } = context;
  const { sandbox } = state;
  if (sandbox === null) return;
  if (isOver(sandbox)) {
    const code = sandbox.status === 'ERROR' ? 'sandbox_error' : 'sandbox_missing';
    return failStart(context, code, sandbox.detail ?? `the sandbox is ${sandbox.status}`);
  }
  if (!sandbox.usable) {
    abandonCommand(context);
    return askForResume(context, (given) => failStart(given, 'resume_failed', 'the sandbox was not resumed'));
  }
  state.resumeRequestId = null;
  if (state.phase === 'waitingForSandbox') return beginStep(context, 'preparingRepository');
  if (state.awaitingGeneration === sandbox.generation || !isStartStep(state.phase)) return;
  // A new incarnation came up in the middle of a step: the step is carried out again, there.
  abandonCommand(context);
  beginStep(context, state.phase);
}

export function resumeAnsweredWhileStarting(
  context: ConversationContext,
  event: EventOf<'resumeAnswered'>,
): void {
  const { state } = context;
  if (state.resumeRequestId !== event.requestId) return;
  state.resumeRequestId = null;
  if (event.refusal !== null)
    return failStart(context, event.refusal, event.sandbox.detail ?? 'the sandbox was not resumed');
  if (acceptSnapshot(context, event.sandbox)) pursueStart(context);
}

/** One step of the start is over; the next begins. */
export function stepOver(context: ConversationContext, event: Answer & StepFacts): void {
  const { state } = context;
  if (!isAwaited(context, event) || !isStartStep(state.phase)) return;
  state.awaiting = null;
  state.awaitingGeneration = null;
  const next = stepAfter(state.phase);
  if (isStartStep(next)) beginStep(context, next, event);
}

/** The agent's conversation is open: READY. What was queued goes out now. */
export function opened(context: ConversationContext, event: EventOf<'agentOpened'>): void {
  const { state } = context;
  if (!isAwaited(context, event)) return;
  state.openGeneration = state.awaitingGeneration;
  state.awaiting = null;
  state.awaitingGeneration = null;
  state.phase = 'active';
  state.startTask = 'READY';
  state.startDeadline = null;
  takeReport(context, event.report);
  pursueWork(context);
}

export function stepFailed(context: ConversationContext, event: EventOf<'stepFailed'>): void {
  if (isAwaited(context, event)) failStart(context, event.code, event.reason);
}

/** Every non-final state has a deadline (D13): a start that takes too long ends in ERROR. */
export function startExpired(context: ConversationContext): void {
  const { startDeadline, waitsFor, awaiting } = context.state;
  if (startDeadline === null || context.now < startDeadline) return;
  // In the line nothing takes too long; the conversation only requests its place again.
  if (waitsFor !== undefined && awaiting === null) return askAgain(context);
  failStart(context, 'placement_failed', 'the start took too long');
  giveUpLine(context);
}

/** The start has failed meanwhile, or it is being deleted: the conversation leaves the line. */
export function waitsTooLate(context: ConversationContext, event: EventOf<'placementWaits'>): void {
  if (!isAwaited(context, event)) return;
  removeLeftBehind(context, event);
  context.state.awaiting = null;
  context.state.waitsFor = event.detail;
  giveUpLine(context);
}
