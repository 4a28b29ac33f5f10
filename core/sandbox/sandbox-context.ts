/**
 * Moves that several phases of a sandbox share: entering a phase, sending, projecting.
 * Owns what entering a phase orders; which phase to enter is decided by the transition table's handlers.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import { ARCHIVE_TIMEOUT_MS, DESTROY_TIMEOUT_MS, PAUSE_TIMEOUT_MS, START_TIMEOUT_MS } from '../limits.ts';
import type { SandboxRow } from '../machine/projection.ts';
import type { ReleaseReason } from '../status.ts';
import type { StepContext } from '../machine/step-context.ts';
import type { SandboxOrder, SandboxNotice } from './message.ts';
import { isLeaving, rowOf } from './row.ts';
import {
  agentPause,
  attachedIds,
  snapshotOf,
  transitionOf,
  type SandboxPhase,
  type SandboxState,
} from './state.ts';

/** What the handlers write on; every order of a runtime names the incarnation it is meant for (D14). */
export type SandboxContext = StepContext<SandboxState, SandboxOrder>;

/** Leaves a phase: late answers to its command no longer count, and its idle watch ends. */
function enter(context: SandboxContext, phase: SandboxPhase): void {
  const { state } = context;
  if (state.watch !== null) {
    context.order({ type: 'cancelCommand', commandId: state.watch });
    state.watch = null;
  }
  state.phase = phase;
  state.awaiting = null;
  state.attempts = 0;
  state.phaseDeadline = null;
}

/** A command that is still out is cancelled; an answer that still arrives is late by its id. */
export function abandonCommand(context: SandboxContext): void {
  if (context.state.awaiting === null) return;
  context.order({ type: 'cancelCommand', commandId: context.state.awaiting });
  context.state.awaiting = null;
}

export function beginStart(context: SandboxContext, bootedAt?: number): void {
  enter(context, 'starting');
  const deadline = context.now + START_TIMEOUT_MS;
  context.state.phaseDeadline = deadline;
  const { sandboxId, generation } = context.state;
  const warm = bootedAt === undefined ? {} : { bootedAt };
  context.state.awaiting = context.order({ type: 'createSandbox', sandboxId, generation, deadline, ...warm });
}

/** Opens a session window (D10), which counts from the boot, and starts watching. */
export function beginSession(context: SandboxContext, bootedAt: number = context.now): void {
  enter(context, 'running');
  const { state } = context;
  state.status = 'RUNNING';
  state.sessionStartedAt = Math.min(bootedAt, context.now);
  state.releasedAt = null;
  state.detail = null;
  state.everReady = true;
  state.stale = false;
  showAgentPause(context);
  watch(context, context.now);
}

/** `since` is the instant from which the Idle Time counts at the least. */
export function watch(context: SandboxContext, since: number): void {
  const { sandboxId, generation, stale, limits } = context.state;
  const { idleTimeMs } = limits;
  context.state.watch = context.order({ type: 'watchIdle', sandboxId, generation, since, idleTimeMs, stale });
}

/** Public `PAUSED` while agents wait, `RUNNING` as soon as one works (D6). */
export function showAgentPause(context: SandboxContext): void {
  const { state } = context;
  const reason = agentPause(state);
  state.status = reason === null ? 'RUNNING' : 'PAUSED';
  state.pauseReason = reason;
}

export function beginPause(context: SandboxContext, reason: ReleaseReason): void {
  enter(context, 'pausing');
  context.state.releaseReason = reason;
  stop(context);
}

/** Orders the stop (again) and bounds the wait for it. */
export function stop(context: SandboxContext): void {
  context.state.phaseDeadline = context.now + PAUSE_TIMEOUT_MS;
  context.state.attempts += 1;
  const { sandboxId, generation } = context.state;
  context.state.awaiting = context.order({ type: 'stopSandbox', sandboxId, generation });
}

/** CPU and memory are freed, files kept; the Deletion Time starts (D6). */
export function release(context: SandboxContext): void {
  const { state } = context;
  enter(context, 'released');
  state.status = 'PAUSED';
  state.pauseReason = state.releaseReason;
  // A resume that failed does not start the Deletion Time anew (D10).
  state.releasedAt ??= context.now;
  state.sessionStartedAt = null;
  state.stale = false;
}

/** Back to rest after a resume that did not happen: no window opened, the release still counts from its own instant (D10). */
export function returnToReleased(context: SandboxContext, detail: string): void {
  enter(context, 'released');
  context.state.detail = detail;
  context.state.sessionStartedAt = null;
}

export function beginReserve(context: SandboxContext): void {
  const { state } = context;
  enter(context, 'reserving');
  state.wanted = null;
  state.inLineSince = context.now;
  askForSlot(context);
}

/** Once, or again from the line, where it keeps its place (D29). */
export function askForSlot(context: SandboxContext): void {
  const { state } = context;
  state.roomOffered = undefined;
  state.phaseDeadline = context.now + START_TIMEOUT_MS;
  const { sandboxId, generation, userId } = state;
  const inRun = state.inRun === true ? { inRun: true as const } : {};
  state.awaiting = context.order({ type: 'reserveSlot', sandboxId, generation, userId, ...inRun });
}

/** A new incarnation: everything of the old one is stale from here (D14). */
export function beginResume(context: SandboxContext): void {
  const { state } = context;
  const attempts = state.phase === 'resuming' ? state.attempts : 0;
  enter(context, 'resuming');
  state.attempts = attempts + 1;
  state.generation += 1;
  const deadline = context.now + START_TIMEOUT_MS;
  state.phaseDeadline = deadline;
  const { sandboxId, generation } = state;
  state.awaiting = context.order({ type: 'resumeSandbox', sandboxId, generation, deadline });
}

/**
 * Deletion in its order: stop, archive, remove (D12).
 * A start or resume still in flight is cancelled, its answer is late by its id, and its activity finds the record
 * in `deleting` and does nothing: a deletion is never undone (D14).
 */
export function beginDelete(context: SandboxContext, options: { readonly byUser: boolean }): void {
  const { state } = context;
  const runtimeMayBeUp = state.phase !== 'released';
  abandonCommand(context);
  state.deletedByUser ||= options.byUser;
  state.wanted = null;
  if (!runtimeMayBeUp) return beginArchive(context, 'archiving');
  enter(context, 'stopping');
  stop(context);
  answerWaiters(context, 'sandbox_missing');
}

export function beginArchive(context: SandboxContext, phase: 'archiving' | 'errorArchiving'): void {
  enter(context, phase);
  // A sandbox that was never ready has no workspace worth keeping.
  if (context.state.everReady) return archive(context);
  if (phase === 'archiving') return beginDestroy(context, 'destroying');
  restInError(context);
}

export function archive(context: SandboxContext): void {
  context.state.attempts += 1;
  context.state.phaseDeadline = context.now + ARCHIVE_TIMEOUT_MS;
  const { sandboxId, generation } = context.state;
  context.state.awaiting = context.order({ type: 'archiveWorkspace', sandboxId, generation });
}

export function beginDestroy(context: SandboxContext, phase: 'destroying' | 'errorDestroying'): void {
  enter(context, phase);
  destroy(context);
}

export function destroy(context: SandboxContext): void {
  context.state.attempts += 1;
  context.state.phaseDeadline = context.now + DESTROY_TIMEOUT_MS;
  const { sandboxId, generation } = context.state;
  context.state.awaiting = context.order({ type: 'destroySandbox', sandboxId, generation });
}

/** Workspace and storage are gone; the transcripts of its conversations stay (D11). */
export function becomeMissing(context: SandboxContext, detail: string): void {
  const { state } = context;
  enter(context, 'missing');
  state.status = 'MISSING';
  state.pauseReason = null;
  state.detail = detail;
  state.sessionStartedAt = null;
  state.releasedAt = null;
  answerWaiters(context, 'sandbox_missing');
}

/** A definite failure, with its reason (D13): read-only from here; runtime released, workspace archived (D8). */
export function becomeError(context: SandboxContext, reason: string): void {
  const { state } = context;
  abandonCommand(context);
  enter(context, 'errorStopping');
  state.status = 'ERROR';
  state.pauseReason = null;
  state.detail = reason;
  state.sessionStartedAt = null;
  state.wanted = null;
  answerWaiters(context, 'sandbox_error');
  stop(context);
}

/** Storage waits for its Deletion Time; only a deletion leaves ERROR (D8), and one requested meanwhile goes on. */
export function restInError(context: SandboxContext): void {
  if (context.state.deletedByUser) return beginDestroy(context, 'errorDestroying');
  enter(context, 'error');
  context.state.releasedAt ??= context.now;
}

export function answerWaiters(context: SandboxContext, refusal: ErrorCode | null): void {
  const { state } = context;
  const waiters = state.waiters;
  state.waiters = [];
  for (const { requestId, conversationId } of waiters) {
    const event: SandboxNotice = {
      type: 'resumeAnswered',
      requestId,
      refusal,
      sandbox: upcomingSnapshot(context),
    };
    context.order({ type: 'send', to: { machine: 'conversation', id: conversationId }, event });
  }
  state.inRun = undefined;
}

/** The snapshot as it will be once this step has settled: a change raises the sequence by one. */
export function upcomingSnapshot(context: SandboxContext) {
  return snapshotOf(context.state, context.state.sequence + 1);
}

/** After every step that changed something: count, project what is shown, and notify the conversations. */
export function settleSandbox(before: SandboxState, context: SandboxContext): void {
  const { state } = context;
  state.sequence += 1;
  const row = rowOf(state);
  if (before.sequence === 0 || !showsTheSame(row, rowOf(before)))
    context.order({ type: 'project', rows: [row] });
  // Not before the first row: only what was held can be given back.
  if (before.sequence > 0 && rowOf(before).holdsSlot && !row.holdsSlot)
    context.order({ type: 'offerRoom', sandboxId: state.sandboxId });
  if (!publiclyChanged(before, state)) return;
  const sandbox = snapshotOf(state);
  const ids = attachedIds(state);
  // A notice that is not sent keeps its number: a history finds the answers to later commands by theirs.
  if (isLeaving(transitionOf(before)) && isLeaving(transitionOf(state)) && before.status === state.status)
    return void (state.commandCount += ids.length);
  for (const id of ids) {
    context.order({
      type: 'send',
      to: { machine: 'conversation', id },
      event: { type: 'sandboxNoticed', sandbox },
    });
  }
}

/** The sandbox remembers what its agents do, but shows it in no row of its own. */
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
