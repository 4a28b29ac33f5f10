/**
 * How a sandbox takes the answers to its own commands.
 * Owns one small function per (answer, phase) pair that needs one; the table says where each applies.
 */
import { idleAt } from './activity.ts';
import {
  ARCHIVE_ATTEMPTS_MAX,
  ARCHIVE_RETRY_MS,
  LOOK_AGE_MAX_MS,
  PAUSE_TIMEOUT_MS,
  RELEASE_ATTEMPTS_MAX,
  RELEASE_RETRY_MS,
  RESUME_ATTEMPTS_MAX,
} from '../limits.ts';
import { HOST_LOST, RUNTIME_GONE } from '../machine/projection.ts';
import { pollAgainMs } from '../placement/line.ts';
import type { SandboxEvent } from './message.ts';
import { attachedIds } from './state.ts';
import {
  abandonCommand,
  answerWaiters,
  archive,
  askForSlot,
  becomeError,
  becomeMissing,
  beginArchive,
  beginDestroy,
  beginPause,
  beginReserve,
  beginResume,
  beginSession,
  destroy,
  release,
  restInError,
  returnToReleased,
  stop,
  watch,
  type SandboxContext,
} from './sandbox-context.ts';

type Answer = { readonly commandId: string };
export type EventOf<Type extends SandboxEvent['type']> = Extract<SandboxEvent, { readonly type: Type }>;

/** Only the answer that is awaited counts; any other is late, and a machine stays silent on it. */
function isAwaited({ state }: SandboxContext, event: Answer): boolean {
  return state.awaiting === event.commandId;
}

/** The deadline of a phase that waits for an answer. */
export function expired(then: (context: SandboxContext) => void): (context: SandboxContext) => void {
  return (context) => {
    if (context.state.phaseDeadline !== null && context.now >= context.state.phaseDeadline) then(context);
  };
}

/** Boot is over: a session begins, or the pause that was requested in the meantime does (D8). */
export function ready(context: SandboxContext, event: EventOf<'sandboxReady'>): void {
  if (!isAwaited(context, event)) return;
  const { wanted } = context.state;
  beginSession(context, event.bootedAt);
  context.state.wanted = null;
  if (wanted === 'pause') beginPause(context, context.state.releaseReason);
  // Last, so that the answer shows the state as it will be: two snapshots of one stamp must never differ.
  answerWaiters(context, null);
}

export function startFailed(context: SandboxContext, event: EventOf<'sandboxFailed'>): void {
  if (isAwaited(context, event)) becomeError(context, event.reason);
}

/** A resume that failed is tried again a bounded number of times, then refused; the sandbox stays released (D7, D10). */
export function resumeFailed(context: SandboxContext, event: EventOf<'sandboxFailed'>): void {
  if (!isAwaited(context, event)) return;
  context.state.awaiting = null;
  if (context.state.attempts < RESUME_ATTEMPTS_MAX) return beginResume(context);
  giveUpResume(context, event.reason);
}

/** No slot in time: no runtime was ordered anything, so it simply stays released. */
export function giveUpSlot(context: SandboxContext, reason: string): void {
  abandonCommand(context);
  context.state.wanted = null;
  returnToReleased(context, reason);
  answerWaiters(context, 'resume_failed');
}

/** Whatever of the incarnation may be up after all is stopped, so that nothing runs without a slot (D13, D17). */
export function giveUpResume(context: SandboxContext, reason: string): void {
  abandonCommand(context);
  context.state.wanted = null;
  context.state.detail = reason;
  beginPause(context, context.state.releaseReason);
  answerWaiters(context, 'resume_failed');
}

/** The release is complete; what was wanted meanwhile comes next. */
export function stopped(context: SandboxContext, event: Answer): void {
  if (!isAwaited(context, event)) return;
  noteStop(context);
  const { wanted } = context.state;
  release(context);
  context.state.wanted = null;
  if (wanted === 'resume') beginReserve(context);
}

export function stoppedForDeletion(context: SandboxContext, event: Answer): void {
  if (!isAwaited(context, event)) return;
  noteStop(context);
  beginArchive(context, 'archiving');
}

export function stoppedInError(context: SandboxContext, event: Answer): void {
  if (!isAwaited(context, event)) return;
  noteStop(context);
  beginArchive(context, 'errorArchiving');
}

/** A simulation of a recorded run needs how long the stop took: the slot is held until then (D17). */
function noteStop({ state, now }: SandboxContext): void {
  state.stoppedAt = now;
  if (state.phaseDeadline !== null)
    state.stopMs = Math.max(0, now - (state.phaseDeadline - PAUSE_TIMEOUT_MS));
}

/** The runtime did not confirm the stop: its state is unknown, so the stop is ordered again on a timer (D13). */
export function stopUnconfirmed(context: SandboxContext, event: Answer): void {
  if (!isAwaited(context, event)) return;
  backOff(context);
}

function backOff(context: SandboxContext): void {
  context.state.awaiting = null;
  context.state.stale = context.state.stale || context.state.attempts >= RELEASE_ATTEMPTS_MAX;
  context.state.phaseDeadline = context.now + RELEASE_RETRY_MS;
}

export function stopAgain(context: SandboxContext): void {
  abandonCommand(context);
  stop(context);
}

export function archived(context: SandboxContext, event: Answer): void {
  if (!isAwaited(context, event)) return;
  context.state.archive = 'stored';
  if (context.state.phase === 'errorArchiving') return restInError(context);
  beginDestroy(context, 'destroying');
}

/** Bounded tries, then `archive_failed`: a user's deletion goes on, a timer's waits (D12). */
export function archiveUnsuccessful(context: SandboxContext, event: EventOf<'archiveFailed'>): void {
  if (isAwaited(context, event)) archiveAgainOrRecord(context);
}

export function archiveAgainOrRecord(context: SandboxContext): void {
  const { state } = context;
  abandonCommand(context);
  if (state.attempts < ARCHIVE_ATTEMPTS_MAX) return archive(context);
  state.archive = 'archive_failed';
  alert(context, 'the workspace could not be archived');
  if (state.phase === 'errorArchiving') return restInError(context);
  if (state.deletedByUser) return beginDestroy(context, 'destroying');
  // A deletion by timer waits: released, due again after the pause for another archive.
  const { releasedAt } = state;
  returnToReleased(context, 'archive_failed');
  state.releasedAt = releasedAt;
  state.phaseDeadline = context.now + ARCHIVE_RETRY_MS;
}

/** Records for the users of the conversations in it that a deletion by timer now waits (D12). */
function alert(context: SandboxContext, detail: string): void {
  const about = { machine: 'sandbox', id: context.state.sandboxId } as const;
  for (const conversationId of attachedIds(context.state)) {
    context.order({ type: 'record', event: { about, conversationId, code: 'archive_failed', detail } });
  }
}

export function destroyed(context: SandboxContext, event: Answer): void {
  if (isAwaited(context, event))
    becomeMissing(context, context.state.deletedByUser ? 'deleted' : 'deletion_time');
}

/** In ERROR the storage is gone after its Deletion Time, and the status stays (D8). */
export function destroyedInError(context: SandboxContext, event: Answer): void {
  if (!isAwaited(context, event)) return;
  if (context.state.deletedByUser) return becomeMissing(context, 'deleted');
  context.state.phase = 'errorEmpty';
  context.state.awaiting = null;
  context.state.phaseDeadline = null;
  context.state.releasedAt = null;
}

export function destroyUnconfirmed(context: SandboxContext, event: Answer): void {
  if (isAwaited(context, event)) backOff(context);
}

export function destroyAgain(context: SandboxContext): void {
  abandonCommand(context);
  destroy(context);
}

export function slotGranted(context: SandboxContext, event: Answer): void {
  if (isAwaited(context, event)) beginResume(context);
}

/** Nothing was accepted: it stays released, and the conversations that requested the resume are refused (D17). */
export function slotRefused(context: SandboxContext, event: EventOf<'slotRefused'>): void {
  if (!isAwaited(context, event)) return;
  returnToReleased(context, event.reason);
  answerWaiters(context, 'concurrency_limit_reached');
}

/** It stands in the line, where nothing takes too long: it requests a slot again when there is room (D29). */
export function slotWaits(context: SandboxContext, event: EventOf<'slotWaits'>): void {
  if (!isAwaited(context, event)) return;
  context.state.awaiting = null;
  context.state.detail = event.detail;
  const waitedMs = context.now - (context.state.inLineSince ?? context.now);
  context.state.phaseDeadline = context.now + pollAgainMs(event.lookAgainMs, waitedMs);
  if (context.state.roomOffered === true) askForSlot(context);
}

/** Also while a request is out, which may have been decided before this room was free. */
export function roomOffered(context: SandboxContext): void {
  if (context.state.awaiting === null) askForSlot(context);
  else context.state.roomOffered = true;
}

/** In the line it requests a slot again; a store that has not answered in time ends the resume. */
export function slotExpired(context: SandboxContext): void {
  if (context.state.awaiting === null) askForSlot(context);
  else giveUpSlot(context, 'slot_timeout');
}

/** Idle when really nothing happened for the Idle Time up to now; exact at the boundary (D9, D10). */
export function idle(context: SandboxContext, event: EventOf<'idleReached'>): void {
  const { state } = context;
  if (state.watch !== event.commandId) return;
  state.watch = null;
  const { idleTimeMs } = state.limits;
  const isIdle = context.now >= idleAt(event.lastActivityAt, idleTimeMs);
  if (!isIdle || isOutdated(context, event)) return watch(context, event.lastActivityAt);
  beginPause(context, 'idle');
}

/** The check is too old, or an agent took up work after it: the watch checks again. */
function isOutdated({ state, now }: SandboxContext, { lookedAt }: EventOf<'idleReached'>): boolean {
  if (now - lookedAt > LOOK_AGE_MAX_MS) return true;
  return Object.values(state.attached).some(
    ({ activity, since }) => activity === 'working' && since >= lookedAt,
  );
}

/** The runtime has no such sandbox: MISSING, whatever was under way (D13). */
export function gone(context: SandboxContext, event: Answer): void {
  if (context.state.watch !== event.commandId && !isAwaited(context, event)) return;
  context.state.watch = null;
  becomeMissing(context, RUNTIME_GONE);
}

/** Its host is never reached again: MISSING, and no answer from there is awaited (D33). */
export function hostLost(context: SandboxContext): void {
  abandonCommand(context);
  becomeMissing(context, HOST_LOST);
}

export function crashed(context: SandboxContext, event: EventOf<'runtimeCrashed'>): void {
  if (context.state.watch !== event.commandId) return;
  context.state.watch = null;
  becomeError(context, event.reason);
}

/** Its files are whole: it stops as when its slot is needed, and may be resumed. */
export function evicted(context: SandboxContext, event: EventOf<'runtimeEvicted'>): void {
  if (context.state.watch !== event.commandId) return;
  context.state.watch = null;
  beginPause(context, 'capacity');
}

export function unknown(context: SandboxContext, event: Answer): void {
  rewatch(context, event, true);
}

export function answeredAgain(context: SandboxContext, event: Answer): void {
  rewatch(context, event, false);
}

function rewatch(context: SandboxContext, event: Answer, stale: boolean): void {
  if (context.state.watch !== event.commandId) return;
  context.state.stale = stale;
  watch(context, context.state.sessionStartedAt ?? context.now);
}
