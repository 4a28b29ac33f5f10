/**
 * Moves that several phases of a sandbox share: entering a phase, telling, projecting.
 * Owns what entering a phase orders; which phase to enter is decided by the transition table's handlers.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import { ARCHIVE_TIMEOUT_MS, DESTROY_TIMEOUT_MS, PAUSE_TIMEOUT_MS, START_TIMEOUT_MS } from '../limits.ts';
import type { SandboxRow } from '../machine/projection.ts';
import type { ReleaseReason } from '../status.ts';
import type { Turn } from '../machine/turn.ts';
import type { SandboxOrder, SandboxNotice } from './message.ts';
import { rowOf } from './row.ts';
import { agentPause, attachedIds, snapshotOf, type SandboxPhase, type SandboxState } from './state.ts';

/** What the handlers write on; every order of a runtime names the incarnation it is meant for (D14). */
export type SandboxTurn = Turn<SandboxState, SandboxOrder>;

/** Leaves a phase: late answers to its command no longer count, and its idle watch ends. */
function enter(turn: SandboxTurn, phase: SandboxPhase): void {
  const { state } = turn;
  if (state.watch !== null) {
    turn.order({ type: 'cancelCommand', commandId: state.watch });
    state.watch = null;
  }
  state.phase = phase;
  state.awaiting = null;
  state.attempts = 0;
  state.phaseDeadline = null;
}

/** A command that is still out is told to stop; its answer, should one come, is late by its id. */
export function abandonCommand(turn: SandboxTurn): void {
  if (turn.state.awaiting === null) return;
  turn.order({ type: 'cancelCommand', commandId: turn.state.awaiting });
  turn.state.awaiting = null;
}

export function beginStart(turn: SandboxTurn, bootedAt?: number): void {
  enter(turn, 'starting');
  const deadline = turn.now + START_TIMEOUT_MS;
  turn.state.phaseDeadline = deadline;
  const { sandboxId, generation } = turn.state;
  const warm = bootedAt === undefined ? {} : { bootedAt };
  turn.state.awaiting = turn.order({ type: 'createSandbox', sandboxId, generation, deadline, ...warm });
}

/** Opens a session window (D10), which counts from the boot, and starts watching. */
export function beginSession(turn: SandboxTurn, bootedAt: number = turn.now): void {
  enter(turn, 'running');
  const { state } = turn;
  state.status = 'RUNNING';
  state.sessionStartedAt = Math.min(bootedAt, turn.now);
  state.releasedAt = null;
  state.detail = null;
  state.everReady = true;
  state.stale = false;
  showAgentPause(turn);
  watch(turn, turn.now);
}

/** `since` is the instant from which the Idle Time counts at the least. */
export function watch(turn: SandboxTurn, since: number): void {
  const { sandboxId, generation, stale, limits } = turn.state;
  const { idleTimeMs } = limits;
  turn.state.watch = turn.order({ type: 'watchIdle', sandboxId, generation, since, idleTimeMs, stale });
}

/** Public `PAUSED` while agents wait, `RUNNING` as soon as one works (D6). */
export function showAgentPause(turn: SandboxTurn): void {
  const { state } = turn;
  const reason = agentPause(state);
  state.status = reason === null ? 'RUNNING' : 'PAUSED';
  state.pauseReason = reason;
}

export function beginPause(turn: SandboxTurn, reason: ReleaseReason): void {
  enter(turn, 'pausing');
  turn.state.releaseReason = reason;
  stop(turn);
}

/** Orders the stop (again) and bounds the wait for it. */
export function stop(turn: SandboxTurn): void {
  turn.state.phaseDeadline = turn.now + PAUSE_TIMEOUT_MS;
  turn.state.attempts += 1;
  const { sandboxId, generation } = turn.state;
  turn.state.awaiting = turn.order({ type: 'stopSandbox', sandboxId, generation });
}

/** CPU and memory are freed, files kept; the Deletion Time starts (D6). */
export function release(turn: SandboxTurn): void {
  const { state } = turn;
  enter(turn, 'released');
  state.status = 'PAUSED';
  state.pauseReason = state.releaseReason;
  // A resume that failed does not start the Deletion Time anew (D10).
  state.releasedAt ??= turn.now;
  state.sessionStartedAt = null;
  state.stale = false;
}

/** Back to rest after a resume that did not happen: no window opened, the release still counts from its own instant (D10). */
export function returnToReleased(turn: SandboxTurn, detail: string): void {
  enter(turn, 'released');
  turn.state.detail = detail;
  turn.state.sessionStartedAt = null;
}

export function beginReserve(turn: SandboxTurn): void {
  const { state } = turn;
  enter(turn, 'reserving');
  state.wanted = null;
  askForSlot(turn);
}

/** Once, or again from the line, where it keeps its place (D29). */
export function askForSlot(turn: SandboxTurn): void {
  const { state } = turn;
  state.roomOffered = undefined;
  state.phaseDeadline = turn.now + START_TIMEOUT_MS;
  const { sandboxId, generation, userId } = state;
  const inRun = state.inRun === true ? { inRun: true as const } : {};
  state.awaiting = turn.order({ type: 'reserveSlot', sandboxId, generation, userId, ...inRun });
}

/** A new incarnation: everything of the old one is stale from here (D14). */
export function beginResume(turn: SandboxTurn): void {
  const { state } = turn;
  const attempts = state.phase === 'resuming' ? state.attempts : 0;
  enter(turn, 'resuming');
  state.attempts = attempts + 1;
  state.generation += 1;
  const deadline = turn.now + START_TIMEOUT_MS;
  state.phaseDeadline = deadline;
  const { sandboxId, generation } = state;
  state.awaiting = turn.order({ type: 'resumeSandbox', sandboxId, generation, deadline });
}

/**
 * Deletion in its order: stop, archive, remove (D12).
 * A start or resume still in flight is cancelled, its answer is late by its id, and its activity finds the record
 * in `deleting` and does nothing: a deletion is never undone (D14).
 */
export function beginDelete(turn: SandboxTurn, options: { readonly byUser: boolean }): void {
  const { state } = turn;
  const runtimeMayBeUp = state.phase !== 'released';
  abandonCommand(turn);
  state.deletedByUser ||= options.byUser;
  state.wanted = null;
  if (!runtimeMayBeUp) return beginArchive(turn, 'archiving');
  enter(turn, 'stopping');
  stop(turn);
  answerWaiters(turn, 'sandbox_missing');
}

export function beginArchive(turn: SandboxTurn, phase: 'archiving' | 'errorArchiving'): void {
  enter(turn, phase);
  // A sandbox that was never ready has no workspace worth keeping.
  if (turn.state.everReady) return archive(turn);
  if (phase === 'archiving') return beginDestroy(turn, 'destroying');
  restInError(turn);
}

export function archive(turn: SandboxTurn): void {
  turn.state.attempts += 1;
  turn.state.phaseDeadline = turn.now + ARCHIVE_TIMEOUT_MS;
  const { sandboxId, generation } = turn.state;
  turn.state.awaiting = turn.order({ type: 'archiveWorkspace', sandboxId, generation });
}

export function beginDestroy(turn: SandboxTurn, phase: 'destroying' | 'errorDestroying'): void {
  enter(turn, phase);
  destroy(turn);
}

export function destroy(turn: SandboxTurn): void {
  turn.state.attempts += 1;
  turn.state.phaseDeadline = turn.now + DESTROY_TIMEOUT_MS;
  const { sandboxId, generation } = turn.state;
  turn.state.awaiting = turn.order({ type: 'destroySandbox', sandboxId, generation });
}

/** Workspace and storage are gone; the transcripts of its conversations stay (D11). */
export function becomeMissing(turn: SandboxTurn, detail: string): void {
  const { state } = turn;
  enter(turn, 'missing');
  state.status = 'MISSING';
  state.pauseReason = null;
  state.detail = detail;
  state.sessionStartedAt = null;
  state.releasedAt = null;
  answerWaiters(turn, 'sandbox_missing');
}

/** A definite failure, with its reason (D13): read-only from here; runtime released, workspace archived (D8). */
export function becomeError(turn: SandboxTurn, reason: string): void {
  const { state } = turn;
  abandonCommand(turn);
  enter(turn, 'errorStopping');
  state.status = 'ERROR';
  state.pauseReason = null;
  state.detail = reason;
  state.sessionStartedAt = null;
  state.wanted = null;
  answerWaiters(turn, 'sandbox_error');
  stop(turn);
}

/** Storage waits for its Deletion Time; only a deletion leaves ERROR (D8), and one asked for meanwhile goes on. */
export function restInError(turn: SandboxTurn): void {
  if (turn.state.deletedByUser) return beginDestroy(turn, 'errorDestroying');
  enter(turn, 'error');
  turn.state.releasedAt ??= turn.now;
}

export function answerWaiters(turn: SandboxTurn, refusal: ErrorCode | null): void {
  const { state } = turn;
  const waiters = state.waiters;
  state.waiters = [];
  for (const { requestId, conversationId } of waiters) {
    const event: SandboxNotice = {
      type: 'resumeAnswered',
      requestId,
      refusal,
      sandbox: upcomingSnapshot(turn),
    };
    turn.order({ type: 'send', to: { machine: 'conversation', id: conversationId }, event });
  }
  state.inRun = undefined;
}

/** The snapshot as it will be once this turn has settled: a change raises the sequence by one. */
export function upcomingSnapshot(turn: SandboxTurn) {
  return snapshotOf(turn.state, turn.state.sequence + 1);
}

/** After every turn that changed something: count, project what is shown, and tell the conversations what they see. */
export function settleSandbox(before: SandboxState, turn: SandboxTurn): void {
  const { state } = turn;
  state.sequence += 1;
  const row = rowOf(state);
  if (before.sequence === 0 || !showsTheSame(row, rowOf(before)))
    turn.order({ type: 'project', rows: [row] });
  // Not before the first row: only what was held can be given back.
  if (before.sequence > 0 && rowOf(before).holdsSlot && !row.holdsSlot)
    turn.order({ type: 'offerRoom', sandboxId: state.sandboxId });
  if (!publiclyChanged(before, state)) return;
  const sandbox = snapshotOf(state);
  const ids = attachedIds(state);
  // What is not told keeps its number: in a history the answers to later commands are found by theirs.
  if (isLeaving(before) && isLeaving(state)) return void (state.commandCount += ids.length);
  for (const id of ids) {
    turn.order({
      type: 'send',
      to: { machine: 'conversation', id },
      event: { type: 'sandboxNoticed', sandbox },
    });
  }
}

/** What its agents do is remembered by the sandbox, and is in no row of its own. */
function showsTheSame(row: SandboxRow, before: SandboxRow): boolean {
  return (Object.keys(row) as (keyof SandboxRow)[]).every(
    (column) => column === 'sequence' || row[column] === before[column],
  );
}

function publiclyChanged(before: SandboxState, after: SandboxState): boolean {
  return (
    before.status !== after.status ||
    before.pauseReason !== after.pauseReason ||
    before.generation !== after.generation ||
    before.phase !== after.phase
  );
}

/** For good, whatever happens: to its conversations all phases of that are one. */
function isLeaving({ deletedByUser, phase }: SandboxState): boolean {
  return deletedByUser && LEAVING.includes(phase);
}

const LEAVING: readonly SandboxPhase[] = ['stopping', 'archiving', 'destroying'];
