/**
 * How a sandbox takes requests of users, conversations and timers.
 * Owns one small function per request; a repeat of a request id changes nothing.
 */
import type { ConversationId } from '../ids.ts';
import { remember, wasSeen } from '../machine/requests.ts';
import { sessionEndOf } from './session.ts';
import { earliest } from '../time.ts';
import { giveUpSlot, type EventOf } from './answers.ts';
import type { SandboxNotice } from './message.ts';
import { hasWorkingAgent, withAttached, type SandboxState } from './state.ts';
import {
  answerWaiters,
  becomeMissing,
  beginArchive,
  beginDelete,
  beginDestroy,
  beginPause,
  beginReserve,
  showAgentPause,
  upcomingSnapshot,
  type SandboxTurn,
} from './turn.ts';

/** True once per request id. */
function isFirst({ state }: SandboxTurn, requestId: string): boolean {
  if (wasSeen(state.seen, requestId)) return false;
  state.seen = remember(state.seen, requestId);
  return true;
}

function answerAttach(turn: SandboxTurn, event: EventOf<'attachRequested'>, accepted: boolean): void {
  const told: SandboxNotice = {
    type: 'attachAnswered',
    requestId: event.requestId,
    accepted,
    sandbox: upcomingSnapshot(turn),
  };
  turn.order({ type: 'send', to: { machine: 'conversation', id: event.conversationId }, event: told });
}

/**
 * Confirms the attachment that placement reserved. A repeat is answered again: answers can be lost.
 * One that arrives behind the leaving is refused: the conversation is deleted, and nobody would take it off the list.
 */
export function attach(turn: SandboxTurn, event: EventOf<'attachRequested'>): void {
  const { state } = turn;
  if (wasSeen(state.seen, leavingOf(event.conversationId))) return answerAttach(turn, event, false);
  const { conversationId } = event;
  const agent = state.attached[conversationId] ?? { activity: 'resting', sequence: -1, since: turn.now };
  state.attached = withAttached(state.attached, conversationId, agent);
  answerAttach(turn, event, true);
}

/** Placement by a strategy may not land in a sandbox that is leaving; an explicit choice may, and resumes it (D16). */
export function attachIfExplicit(turn: SandboxTurn, event: EventOf<'attachRequested'>): void {
  if (event.explicit) attach(turn, event);
  else refuseAttach(turn, event);
}

/** Nobody new; whoever is on the list already hears so again, and would be in two sandboxes with another answer. */
export function refuseAttach(turn: SandboxTurn, event: EventOf<'attachRequested'>): void {
  answerAttach(turn, event, event.conversationId in turn.state.attached);
}

/** A deleted conversation leaves; whether it takes the sandbox with it was decided with its removal (D11). */
export function detach(turn: SandboxTurn, event: EventOf<'detached'>): void {
  rememberLeaving(turn, event.conversationId);
  dropAttached(turn, event.conversationId);
}

export function detachWhileRunning(turn: SandboxTurn, event: EventOf<'detached'>): void {
  rememberLeaving(turn, event.conversationId);
  if (dropAttached(turn, event.conversationId)) showAgentPause(turn);
}

/** Only a deletion makes a conversation leave, so it leaves once and for ever. What is MISSING takes nobody in anyway. */
function rememberLeaving(turn: SandboxTurn, id: ConversationId): void {
  if (turn.state.phase !== 'missing') isFirst(turn, leavingOf(id));
}

function leavingOf(id: ConversationId): string {
  return `detached/${id}`;
}

function dropAttached({ state }: SandboxTurn, id: ConversationId): boolean {
  if (!(id in state.attached)) return false;
  const { [id]: _gone, ...rest } = state.attached;
  state.attached = rest;
  state.waiters = state.waiters.filter((waiter) => waiter.conversationId !== id);
  return true;
}

/** Newest wins: an older snapshot of the same conversation says nothing. */
export function noteAgent(turn: SandboxTurn, event: EventOf<'agentNoticed'>): void {
  const { state } = turn;
  const known = state.attached[event.conversationId];
  if (known === undefined || event.sequence <= known.sequence) return;
  const { activity, sequence } = event;
  const agent = { activity, sequence, since: known.activity === activity ? known.since : turn.now };
  state.attached = withAttached(state.attached, event.conversationId, agent);
  if (state.phase === 'running') showAgentPause(turn);
}

function addWaiter(turn: SandboxTurn, event: EventOf<'resumeRequested'>): void {
  if (event.conversationId === null) return;
  if (event.inRun === true) turn.state.inRun = true;
  const waiter = { requestId: event.requestId, conversationId: event.conversationId };
  turn.state.waiters = [...turn.state.waiters, waiter];
}

export function resume(turn: SandboxTurn, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  addWaiter(turn, event);
  beginReserve(turn);
}

/** Under way already, or wanted as soon as the present transition ends; the later wish wins. */
export function resumeLater(turn: SandboxTurn, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  addWaiter(turn, event);
  turn.state.wanted = turn.state.phase === 'pausing' ? 'resume' : null;
}

/** It is up: 200 and nothing; no window is opened (D8). */
export function resumeAtOnce(turn: SandboxTurn, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  addWaiter(turn, event);
  answerWaiters(turn, null);
}

export function refuseResumeInError(turn: SandboxTurn, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  addWaiter(turn, event);
  answerWaiters(turn, 'sandbox_error');
}

export function refuseResumeWhenGone(turn: SandboxTurn, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  addWaiter(turn, event);
  answerWaiters(turn, 'sandbox_missing');
}

/** A user's pause is obeyed; one to make room never takes a working agent's sandbox (D17). */
export function pause(turn: SandboxTurn, event: EventOf<'pauseRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  if (event.reason === 'capacity' && hasWorkingAgent(turn.state)) return;
  beginPause(turn, event.reason);
}

/** Nobody works in it and nobody will: it need not wait for its Idle Time. What a user made is the user's to pause. */
export function releaseUnused(turn: SandboxTurn, { conversationId }: EventOf<'startFailed'>): void {
  const { attached, createdBy } = turn.state;
  if (!isFirst(turn, `startFailed/${conversationId}`)) return;
  const isAlone = Object.keys(attached).every((id) => id === conversationId);
  if (createdBy === 'placement' && isAlone) beginPause(turn, 'idle');
}

/** Accepted now, done when booted (D8). */
export function pauseLater(turn: SandboxTurn, event: EventOf<'pauseRequested'>): void {
  if (event.reason === 'capacity' || !isFirst(turn, event.requestId)) return;
  turn.state.wanted = 'pause';
  turn.state.releaseReason = 'user';
}

/** Nothing is up yet: the resume is given up, in the line or on its way there, and the later wish wins. */
export function pauseUnslotted(turn: SandboxTurn, event: EventOf<'pauseRequested'>): void {
  if (event.reason === 'capacity' || !isFirst(turn, event.requestId)) return;
  giveUpSlot(turn, 'paused');
}

/** It is stopping anyway: a resume wished meanwhile is dropped, the later wish wins. */
export function pauseInstead(turn: SandboxTurn, event: EventOf<'pauseRequested'>): void {
  if (event.reason === 'capacity' || !isFirst(turn, event.requestId)) return;
  if (turn.state.wanted !== 'resume') return;
  turn.state.wanted = null;
  answerWaiters(turn, 'resume_failed');
}

export function remove(turn: SandboxTurn, event: EventOf<'deleteRequested'>): void {
  if (isFirst(turn, event.requestId)) beginDelete(turn, { byUser: true });
}

/** A timer's deletion under way becomes a user's: a failed archive no longer holds it up (D12). */
export function removeAlready(turn: SandboxTurn, event: EventOf<'deleteRequested'>): void {
  if (isFirst(turn, event.requestId)) turn.state.deletedByUser = true;
}

export function removeFromError(turn: SandboxTurn, event: EventOf<'deleteRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  turn.state.deletedByUser = true;
  if (turn.state.phase === 'error') beginDestroy(turn, 'errorDestroying');
  if (turn.state.phase === 'errorEmpty') becomeMissing(turn, 'deleted');
}

/** The instant of the 12-hour cap of the session that runs (D10). */
export function sessionEnd(state: SandboxState): number | null {
  return state.sessionStartedAt === null ? null : sessionEndOf(state.sessionStartedAt);
}

/** The instant at which a released sandbox has waited for its Deletion Time (D10). */
export function deletionDue(state: SandboxState): number | null {
  const { deletionTimeMs } = state.limits;
  if (state.releasedAt === null || deletionTimeMs === null) return null;
  const due = state.releasedAt + deletionTimeMs;
  // After a failed archive the deletion waits for its next try.
  return state.phaseDeadline === null ? due : Math.max(due, state.phaseDeadline);
}

/** Force-pause at 12 hours, even if active; exact at the boundary (D10). */
export function capReached(turn: SandboxTurn): void {
  const end = sessionEnd(turn.state);
  if (end !== null && turn.now >= end) beginPause(turn, 'session_limit');
}

export function deletionReached(turn: SandboxTurn): void {
  const due = deletionDue(turn.state);
  if (due === null || turn.now < due) return;
  beginArchive(turn, 'archiving');
}

export function deletionReachedInError(turn: SandboxTurn): void {
  const due = deletionDue(turn.state);
  if (due !== null && turn.now >= due) beginDestroy(turn, 'errorDestroying');
}

/** The one instant a driver has to arm a timer for. */
export function sandboxDeadline(state: SandboxState): number | null {
  switch (state.phase) {
    case 'running':
      return sessionEnd(state);
    case 'released':
    case 'error':
      return deletionDue(state);
    case 'errorEmpty':
    case 'missing':
      return null;
    default:
      return earliest(state.phaseDeadline);
  }
}
