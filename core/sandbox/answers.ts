/**
 * How a sandbox takes the answers to its own commands.
 * Owns one small function per (answer, phase) pair that needs one; the table says where each applies.
 */
import { idleAt } from './activity.ts';
import {
  ARCHIVE_ATTEMPTS_MAX,
  ARCHIVE_RETRY_MS,
  CAPACITY_POLL_MS,
  LOOK_AGE_MAX_MS,
  PAUSE_TIMEOUT_MS,
  RELEASE_ATTEMPTS_MAX,
  RELEASE_RETRY_MS,
  RESUME_ATTEMPTS_MAX,
} from '../limits.ts';
import { RUNTIME_GONE } from '../machine/projection.ts';
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
  type SandboxTurn,
} from './turn.ts';

type Answer = { readonly commandId: string };
export type EventOf<Type extends SandboxEvent['type']> = Extract<SandboxEvent, { readonly type: Type }>;

/** Only the answer that is awaited counts; any other is late, and a machine stays silent on it. */
function isAwaited({ state }: SandboxTurn, event: Answer): boolean {
  return state.awaiting === event.commandId;
}

/** Boot is over: a session begins, or the pause that was asked for in the meantime does (D8). */
export function ready(turn: SandboxTurn, event: EventOf<'sandboxReady'>): void {
  if (!isAwaited(turn, event)) return;
  const { wanted } = turn.state;
  beginSession(turn, event.bootedAt);
  turn.state.wanted = null;
  if (wanted === 'pause') beginPause(turn, turn.state.releaseReason);
  // Last, so that the answer shows the state as it will be: two snapshots of one stamp must never differ.
  answerWaiters(turn, null);
}

export function startFailed(turn: SandboxTurn, event: EventOf<'sandboxFailed'>): void {
  if (isAwaited(turn, event)) becomeError(turn, event.reason);
}

/** A resume that failed is tried again a bounded number of times, then refused; the sandbox stays released (D7, D10). */
export function resumeFailed(turn: SandboxTurn, event: EventOf<'sandboxFailed'>): void {
  if (!isAwaited(turn, event)) return;
  turn.state.awaiting = null;
  if (turn.state.attempts < RESUME_ATTEMPTS_MAX) return beginResume(turn);
  giveUpResume(turn, event.reason);
}

/** No slot in time: no runtime was asked for anything, so it simply stays released. */
export function giveUpSlot(turn: SandboxTurn, reason: string): void {
  abandonCommand(turn);
  turn.state.wanted = null;
  returnToReleased(turn, reason);
  answerWaiters(turn, 'resume_failed');
}

/** Whatever of the incarnation may be up after all is stopped, so that nothing runs without a slot (D13, D17). */
export function giveUpResume(turn: SandboxTurn, reason: string): void {
  abandonCommand(turn);
  turn.state.wanted = null;
  turn.state.detail = reason;
  beginPause(turn, turn.state.releaseReason);
  answerWaiters(turn, 'resume_failed');
}

/** The release is complete; what was wanted meanwhile comes next. */
export function stopped(turn: SandboxTurn, event: Answer): void {
  if (!isAwaited(turn, event)) return;
  noteStop(turn);
  const { wanted } = turn.state;
  release(turn);
  turn.state.wanted = null;
  if (wanted === 'resume') beginReserve(turn);
}

export function stoppedForDeletion(turn: SandboxTurn, event: Answer): void {
  if (!isAwaited(turn, event)) return;
  noteStop(turn);
  beginArchive(turn, 'archiving');
}

export function stoppedInError(turn: SandboxTurn, event: Answer): void {
  if (!isAwaited(turn, event)) return;
  noteStop(turn);
  beginArchive(turn, 'errorArchiving');
}

/** How long it took is what a play of a recorded run needs to know of it: the slot is held until then (D17). */
function noteStop({ state, now }: SandboxTurn): void {
  state.stoppedAt = now;
  if (state.phaseDeadline !== null)
    state.stopMs = Math.max(0, now - (state.phaseDeadline - PAUSE_TIMEOUT_MS));
}

/** The runtime did not confirm the stop: nothing is known, so it is asked again on a timer (D13). */
export function stopUnconfirmed(turn: SandboxTurn, event: Answer): void {
  if (!isAwaited(turn, event)) return;
  backOff(turn);
}

function backOff(turn: SandboxTurn): void {
  turn.state.awaiting = null;
  turn.state.stale = turn.state.stale || turn.state.attempts >= RELEASE_ATTEMPTS_MAX;
  turn.state.phaseDeadline = turn.now + RELEASE_RETRY_MS;
}

export function stopAgain(turn: SandboxTurn): void {
  abandonCommand(turn);
  stop(turn);
}

export function archived(turn: SandboxTurn, event: Answer): void {
  if (!isAwaited(turn, event)) return;
  turn.state.archive = 'stored';
  if (turn.state.phase === 'errorArchiving') return restInError(turn);
  beginDestroy(turn, 'destroying');
}

/** Bounded tries, then `archive_failed`: a user's deletion goes on, a timer's waits (D12). */
export function archiveUnsuccessful(turn: SandboxTurn, event: EventOf<'archiveFailed'>): void {
  if (isAwaited(turn, event)) archiveAgainOrRecord(turn);
}

export function archiveAgainOrRecord(turn: SandboxTurn): void {
  const { state } = turn;
  abandonCommand(turn);
  if (state.attempts < ARCHIVE_ATTEMPTS_MAX) return archive(turn);
  state.archive = 'archive_failed';
  alert(turn, 'the workspace could not be archived');
  if (state.phase === 'errorArchiving') return restInError(turn);
  if (state.deletedByUser) return beginDestroy(turn, 'destroying');
  // The deletion of a timer waits for somebody: released, due again after the pause for another archive.
  const { releasedAt } = state;
  returnToReleased(turn, 'archive_failed');
  state.releasedAt = releasedAt;
  state.phaseDeadline = turn.now + ARCHIVE_RETRY_MS;
}

/** Tells whoever reads the conversations in it: a deletion of a timer now waits for somebody (D12). */
function alert(turn: SandboxTurn, detail: string): void {
  const about = { machine: 'sandbox', id: turn.state.sandboxId } as const;
  for (const conversationId of attachedIds(turn.state)) {
    turn.order({ type: 'record', event: { about, conversationId, code: 'archive_failed', detail } });
  }
}

export function destroyed(turn: SandboxTurn, event: Answer): void {
  if (isAwaited(turn, event)) becomeMissing(turn, turn.state.deletedByUser ? 'deleted' : 'deletion_time');
}

/** In ERROR the storage is gone after its Deletion Time, and the status stays (D8). */
export function destroyedInError(turn: SandboxTurn, event: Answer): void {
  if (!isAwaited(turn, event)) return;
  if (turn.state.deletedByUser) return becomeMissing(turn, 'deleted');
  turn.state.phase = 'errorEmpty';
  turn.state.awaiting = null;
  turn.state.phaseDeadline = null;
  turn.state.releasedAt = null;
}

export function destroyUnconfirmed(turn: SandboxTurn, event: Answer): void {
  if (isAwaited(turn, event)) backOff(turn);
}

export function destroyAgain(turn: SandboxTurn): void {
  abandonCommand(turn);
  destroy(turn);
}

export function slotGranted(turn: SandboxTurn, event: Answer): void {
  if (isAwaited(turn, event)) beginResume(turn);
}

/** Nothing was accepted: it stays released, and whoever asked hears it (D17). */
export function slotRefused(turn: SandboxTurn, event: EventOf<'slotRefused'>): void {
  if (!isAwaited(turn, event)) return;
  returnToReleased(turn, event.reason);
  answerWaiters(turn, 'concurrency_limit_reached');
}

/** It stands in the line, where nothing takes too long: it asks again when there is room (D29). */
export function slotWaits(turn: SandboxTurn, event: EventOf<'slotWaits'>): void {
  if (!isAwaited(turn, event)) return;
  turn.state.awaiting = null;
  turn.state.detail = event.detail;
  turn.state.phaseDeadline = turn.now + (event.lookAgainMs ?? CAPACITY_POLL_MS);
  if (turn.state.roomOffered === true) askForSlot(turn);
}

/** Also while it asks, which may have been too early for what is free now. */
export function roomOffered(turn: SandboxTurn): void {
  if (turn.state.awaiting === null) askForSlot(turn);
  else turn.state.roomOffered = true;
}

/** Who stands in the line looks again; a store that has not answered in time ends the resume. */
export function slotExpired(turn: SandboxTurn): void {
  if (turn.state.awaiting === null) askForSlot(turn);
  else giveUpSlot(turn, 'slot_timeout');
}

/** Idle when really nothing happened for the Idle Time up to now; exact at the boundary (D9, D10). */
export function idle(turn: SandboxTurn, event: EventOf<'idleReached'>): void {
  const { state } = turn;
  if (state.watch !== event.commandId) return;
  state.watch = null;
  const { idleTimeMs } = state.limits;
  const isIdle = turn.now >= idleAt(event.lastActivityAt, idleTimeMs);
  if (!isIdle || isOutdated(turn, event)) return watch(turn, event.lastActivityAt);
  beginPause(turn, 'idle');
}

/** An answer that was long on its way, or an agent that took up work after the look: it is looked again. */
function isOutdated({ state, now }: SandboxTurn, { lookedAt }: EventOf<'idleReached'>): boolean {
  if (now - lookedAt > LOOK_AGE_MAX_MS) return true;
  return Object.values(state.attached).some(
    ({ activity, since }) => activity === 'working' && since >= lookedAt,
  );
}

/** The runtime says there is no such sandbox: MISSING, whatever was under way (D13). */
export function gone(turn: SandboxTurn, event: Answer): void {
  if (turn.state.watch !== event.commandId && !isAwaited(turn, event)) return;
  turn.state.watch = null;
  becomeMissing(turn, RUNTIME_GONE);
}

export function crashed(turn: SandboxTurn, event: EventOf<'runtimeCrashed'>): void {
  if (turn.state.watch !== event.commandId) return;
  turn.state.watch = null;
  becomeError(turn, event.reason);
}

/** Nothing is wrong with what it holds: it stops as for anybody who needs its place, and may be resumed. */
export function evicted(turn: SandboxTurn, event: EventOf<'runtimeEvicted'>): void {
  if (turn.state.watch !== event.commandId) return;
  turn.state.watch = null;
  beginPause(turn, 'capacity');
}

export function unknown(turn: SandboxTurn, event: Answer): void {
  rewatch(turn, event, true);
}

export function answeredAgain(turn: SandboxTurn, event: Answer): void {
  rewatch(turn, event, false);
}

function rewatch(turn: SandboxTurn, event: Answer, stale: boolean): void {
  if (turn.state.watch !== event.commandId) return;
  turn.state.stale = stale;
  watch(turn, turn.state.sessionStartedAt ?? turn.now);
}
