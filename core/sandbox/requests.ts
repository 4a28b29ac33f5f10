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
  type SandboxContext,
} from './sandbox-context.ts';

/** True once per request id. */
function isFirst({ state }: SandboxContext, requestId: string): boolean {
  if (wasSeen(state.seen, requestId)) return false;
  state.seen = remember(state.seen, requestId);
  return true;
}

function answerAttach(context: SandboxContext, event: EventOf<'attachRequested'>, accepted: boolean): void {
  const told: SandboxNotice = {
    type: 'attachAnswered',
    requestId: event.requestId,
    accepted,
    sandbox: upcomingSnapshot(context),
  };
  context.order({ type: 'send', to: { machine: 'conversation', id: event.conversationId }, event: told });
}

/**
 * Confirms the attachment that placement reserved. A repeat is answered again: answers can be lost.
 * One that arrives after the conversation left is refused: it is deleted, and would stay on the list for ever.
 */
export function attach(context: SandboxContext, event: EventOf<'attachRequested'>): void {
  const { state } = context;
  if (wasSeen(state.seen, leavingOf(event.conversationId))) return answerAttach(context, event, false);
  const { conversationId } = event;
  const agent = state.attached[conversationId] ?? { activity: 'resting', sequence: -1, since: context.now };
  state.attached = withAttached(state.attached, conversationId, agent);
  answerAttach(context, event, true);
}

/** Placement by a strategy may not land in a sandbox that is leaving; an explicit choice may, and resumes it (D16). */
export function attachIfExplicit(context: SandboxContext, event: EventOf<'attachRequested'>): void {
  if (event.explicit) attach(context, event);
  else refuseAttach(context, event);
}

/** Accepts only a conversation that is attached already: with another answer it would be in two sandboxes. */
export function refuseAttach(context: SandboxContext, event: EventOf<'attachRequested'>): void {
  answerAttach(context, event, event.conversationId in context.state.attached);
}

/** A deleted conversation leaves; whether it takes the sandbox with it was decided with its removal (D11). */
export function detach(context: SandboxContext, event: EventOf<'detached'>): void {
  rememberLeaving(context, event.conversationId);
  dropAttached(context, event.conversationId);
}

export function detachWhileRunning(context: SandboxContext, event: EventOf<'detached'>): void {
  rememberLeaving(context, event.conversationId);
  if (dropAttached(context, event.conversationId)) showAgentPause(context);
}

/** Only a deletion makes a conversation leave, so it leaves once and for ever. What is MISSING takes none in anyway. */
function rememberLeaving(context: SandboxContext, id: ConversationId): void {
  if (context.state.phase !== 'missing') isFirst(context, leavingOf(id));
}

function leavingOf(id: ConversationId): string {
  return `detached/${id}`;
}

function dropAttached({ state }: SandboxContext, id: ConversationId): boolean {
  if (!(id in state.attached)) return false;
  const { [id]: _gone, ...rest } = state.attached;
  state.attached = rest;
  state.waiters = state.waiters.filter((waiter) => waiter.conversationId !== id);
  return true;
}

/** Newest wins: an older snapshot of the same conversation is ignored. */
export function noteAgent(context: SandboxContext, event: EventOf<'agentNoticed'>): void {
  const { state } = context;
  const known = state.attached[event.conversationId];
  if (known === undefined || event.sequence <= known.sequence) return;
  const { activity, sequence } = event;
  const agent = { activity, sequence, since: known.activity === activity ? known.since : context.now };
  state.attached = withAttached(state.attached, event.conversationId, agent);
  if (state.phase === 'running') showAgentPause(context);
}

function addWaiter(context: SandboxContext, event: EventOf<'resumeRequested'>): void {
  if (event.conversationId === null) return;
  if (event.inRun === true) context.state.inRun = true;
  const waiter = { requestId: event.requestId, conversationId: event.conversationId };
  context.state.waiters = [...context.state.waiters, waiter];
}

export function resume(context: SandboxContext, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  addWaiter(context, event);
  beginReserve(context);
}

/** Under way already, or wanted as soon as the present transition ends; the later request wins. */
export function resumeLater(context: SandboxContext, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  addWaiter(context, event);
  context.state.wanted = context.state.phase === 'pausing' ? 'resume' : null;
}

/** It is up: the answer is 200 and nothing changes; no window is opened (D8). */
export function resumeAtOnce(context: SandboxContext, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  addWaiter(context, event);
  answerWaiters(context, null);
}

export function refuseResumeInError(context: SandboxContext, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  addWaiter(context, event);
  answerWaiters(context, 'sandbox_error');
}

export function refuseResumeWhenGone(context: SandboxContext, event: EventOf<'resumeRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  addWaiter(context, event);
  answerWaiters(context, 'sandbox_missing');
}

/** A user's pause is obeyed; one to make room never takes a working agent's sandbox (D17). */
export function pause(context: SandboxContext, event: EventOf<'pauseRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  if (event.reason === 'capacity' && hasWorkingAgent(context.state)) return;
  beginPause(context, event.reason);
}

/** No agent works in it and none will: it need not wait for its Idle Time. What a user made is the user's to pause. */
export function releaseUnused(context: SandboxContext, { conversationId }: EventOf<'startFailed'>): void {
  const { attached, createdBy } = context.state;
  if (!isFirst(context, `startFailed/${conversationId}`)) return;
  const isAlone = Object.keys(attached).every((id) => id === conversationId);
  if (createdBy === 'placement' && isAlone) beginPause(context, 'idle');
}

/** Accepted now, done when booted (D8). */
export function pauseLater(context: SandboxContext, event: EventOf<'pauseRequested'>): void {
  if (event.reason === 'capacity' || !isFirst(context, event.requestId)) return;
  context.state.wanted = 'pause';
  context.state.releaseReason = 'user';
}

/** Nothing is up yet: the resume is given up, in the line or on its way there, and the later request wins. */
export function pauseUnslotted(context: SandboxContext, event: EventOf<'pauseRequested'>): void {
  if (event.reason === 'capacity' || !isFirst(context, event.requestId)) return;
  giveUpSlot(context, 'paused');
}

/** It is stopping anyway: a resume requested meanwhile is dropped, the later request wins. */
export function pauseInstead(context: SandboxContext, event: EventOf<'pauseRequested'>): void {
  if (event.reason === 'capacity' || !isFirst(context, event.requestId)) return;
  if (context.state.wanted !== 'resume') return;
  context.state.wanted = null;
  answerWaiters(context, 'resume_failed');
}

export function remove(context: SandboxContext, event: EventOf<'deleteRequested'>): void {
  if (event.onlyReleased === true) {
    if (context.state.phase === 'released') beginDelete(context, { byUser: false });
    return;
  }
  if (isFirst(context, event.requestId)) beginDelete(context, { byUser: true });
}

/** A timer's deletion under way becomes a user's: a failed archive no longer holds it up (D12). */
export function removeAlready(context: SandboxContext, event: EventOf<'deleteRequested'>): void {
  if (event.onlyReleased === true) return;
  if (isFirst(context, event.requestId)) context.state.deletedByUser = true;
}

export function removeFromError(context: SandboxContext, event: EventOf<'deleteRequested'>): void {
  if (event.onlyReleased === true || !isFirst(context, event.requestId)) return;
  context.state.deletedByUser = true;
  if (context.state.phase === 'error') beginDestroy(context, 'errorDestroying');
  if (context.state.phase === 'errorEmpty') becomeMissing(context, 'deleted');
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
export function capReached(context: SandboxContext): void {
  const end = sessionEnd(context.state);
  if (end !== null && context.now >= end) beginPause(context, 'session_limit');
}

export function deletionReached(context: SandboxContext): void {
  const due = deletionDue(context.state);
  if (due === null || context.now < due) return;
  beginArchive(context, 'archiving');
}

export function deletionReachedInError(context: SandboxContext): void {
  const due = deletionDue(context.state);
  if (due !== null && context.now >= due) beginDestroy(context, 'errorDestroying');
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
