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
  tellSandbox,
  type ConversationTurn,
} from './turn.ts';

export type EventOf<Type extends ConversationEvent['type']> = Extract<
  ConversationEvent,
  { readonly type: Type }
>;
type Answer = { readonly commandId: string };

function isAwaited({ state }: ConversationTurn, event: Answer): boolean {
  return state.awaiting === event.commandId;
}

export function begin(turn: ConversationTurn): void {
  beginPlacement(turn);
}

/** The slot is reserved; the sandbox itself must confirm the attachment, since it may be leaving. */
export function placed(turn: ConversationTurn, event: EventOf<'placed'>): void {
  if (!isAwaited(turn, event)) return;
  removeLeftBehind(turn, event);
  leaveLine(turn);
  turn.state.phase = 'attaching';
  turn.state.startDeadline = turn.now + START_TASK_TIMEOUT_MS;
  requestAttachment(turn, event);
}

/** Also for a conversation that has ended meanwhile: the sandbox made for it must come to know its own life. */
export function placedTooLate(turn: ConversationTurn, event: EventOf<'placed'>): void {
  if (!isAwaited(turn, event)) return;
  removeLeftBehind(turn, event);
  requestAttachment(turn, event);
  // A removal that came before the answer could overtake the request, and the sandbox would be created for nobody.
  if (turn.state.phase === 'deleting') turn.state.startDeadline = turn.now + START_TASK_TIMEOUT_MS;
}

function requestAttachment(turn: ConversationTurn, event: EventOf<'placed'>): void {
  const { state } = turn;
  state.awaiting = null;
  state.sandboxId = event.sandboxId;
  state.spilled = event.spilled;
  state.attachRequestId = newRequestId(turn);
  tellSandbox(turn, {
    type: 'attachRequested',
    requestId: state.attachRequestId,
    conversationId: state.spec.conversationId,
    // A pool belongs to its run: what of it was released meanwhile is resumed, as what is named explicitly.
    explicit: state.spec.sandboxId !== null || state.spec.pool !== undefined,
    spec: event.spec,
  });
}

export function placementRefused(turn: ConversationTurn, event: EventOf<'placementRefused'>): void {
  if (!isAwaited(turn, event)) return;
  removeLeftBehind(turn, event);
  turn.state.awaiting = null;
  leaveLine(turn);
  failStart(turn, event.code, event.reason);
}

export function placementRefusedTooLate(turn: ConversationTurn, event: EventOf<'placementRefused'>): void {
  if (!isAwaited(turn, event)) return;
  removeLeftBehind(turn, event);
  turn.state.awaiting = null;
}

/** The start has failed already; what its sandbox is doing stays visible all the same. */
export function attachAnsweredTooLate(turn: ConversationTurn, event: EventOf<'attachAnswered'>): void {
  const { state } = turn;
  if (state.attachRequestId !== event.requestId) return;
  state.attachRequestId = null;
  if (!event.accepted) return leaveRefused(turn);
  acceptSnapshot(turn, event.sandbox);
  releaseSandbox(turn);
}

/** Somebody gives the start up: nothing would hear an interruption later (a run's cancel, a deadline). */
export function giveUp(turn: ConversationTurn, event: EventOf<'interruptRequested'>): void {
  const { state } = turn;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  failStart(turn, 'agent_refused', 'the conversation was interrupted');
  giveUpLine(turn);
}

/** Only the answer to the latest request counts: an older refusal is about an older try. */
export function attachAnswered(turn: ConversationTurn, event: EventOf<'attachAnswered'>): void {
  const { state } = turn;
  if (state.attachRequestId !== event.requestId) return;
  state.attachRequestId = null;
  if (!event.accepted) return placeAgain(turn);
  acceptSnapshot(turn, event.sandbox);
  state.phase = 'waitingForSandbox';
  state.startTask = 'WAITING_FOR_SANDBOX';
  pursueStart(turn);
}

/** Notices may overtake the answer to the attachment; they are kept, and tell nothing about acceptance. */
export function noticeWhileAttaching(turn: ConversationTurn, event: EventOf<'sandboxNoticed'>): void {
  acceptSnapshot(turn, event.sandbox);
}

export function noticeWhileStarting(turn: ConversationTurn, event: EventOf<'sandboxNoticed'>): void {
  if (acceptSnapshot(turn, event.sandbox)) pursueStart(turn);
}

/** What the start still needs, looked at again on every accepted notice. */
export function pursueStart(turn: ConversationTurn): void {
  const { state } = turn;
  const { sandbox } = state;
  if (sandbox === null) return;
  if (isOver(sandbox)) {
    const code = sandbox.status === 'ERROR' ? 'sandbox_error' : 'sandbox_missing';
    return failStart(turn, code, sandbox.detail ?? `the sandbox is ${sandbox.status}`);
  }
  if (!sandbox.usable) {
    abandonCommand(turn);
    return askForResume(turn, (given) => failStart(given, 'resume_failed', 'the sandbox was not resumed'));
  }
  state.resumeRequestId = null;
  if (state.phase === 'waitingForSandbox') return beginStep(turn, 'preparingRepository');
  if (state.awaitingGeneration === sandbox.generation || !isStartStep(state.phase)) return;
  // A new incarnation came up in the middle of a step: the step is carried out again, there.
  abandonCommand(turn);
  beginStep(turn, state.phase);
}

export function resumeAnsweredWhileStarting(turn: ConversationTurn, event: EventOf<'resumeAnswered'>): void {
  const { state } = turn;
  if (state.resumeRequestId !== event.requestId) return;
  state.resumeRequestId = null;
  if (event.refusal !== null)
    return failStart(turn, event.refusal, event.sandbox.detail ?? 'the sandbox was not resumed');
  if (acceptSnapshot(turn, event.sandbox)) pursueStart(turn);
}

/** One step of the start is over; the next begins. */
export function stepOver(turn: ConversationTurn, event: Answer): void {
  const { state } = turn;
  if (!isAwaited(turn, event) || !isStartStep(state.phase)) return;
  state.awaiting = null;
  state.awaitingGeneration = null;
  const next = stepAfter(state.phase);
  if (isStartStep(next)) beginStep(turn, next);
}

/** The agent's conversation is open: READY. What was queued goes out now. */
export function opened(turn: ConversationTurn, event: EventOf<'agentOpened'>): void {
  const { state } = turn;
  if (!isAwaited(turn, event)) return;
  state.openGeneration = state.awaitingGeneration;
  state.awaiting = null;
  state.awaitingGeneration = null;
  state.phase = 'active';
  state.startTask = 'READY';
  state.startDeadline = null;
  takeReport(turn, event.report);
  pursueWork(turn);
}

export function stepFailed(turn: ConversationTurn, event: EventOf<'stepFailed'>): void {
  if (isAwaited(turn, event)) failStart(turn, event.code, event.reason);
}

/** Every non-final state has a deadline (D13): a start that takes too long ends in ERROR. */
export function startExpired(turn: ConversationTurn): void {
  const { startDeadline, waitsFor, awaiting } = turn.state;
  if (startDeadline === null || turn.now < startDeadline) return;
  // In the line nothing takes too long; it only looks again.
  if (waitsFor !== undefined && awaiting === null) return askAgain(turn);
  failStart(turn, 'placement_failed', 'the start took too long');
  giveUpLine(turn);
}

/** The start has failed meanwhile, or it is being deleted: whoever stands in the line leaves it. */
export function waitsTooLate(turn: ConversationTurn, event: EventOf<'placementWaits'>): void {
  if (!isAwaited(turn, event)) return;
  removeLeftBehind(turn, event);
  turn.state.awaiting = null;
  turn.state.waitsFor = event.detail;
  giveUpLine(turn);
}
