/**
 * The run as a whole: what users ask of it, and how it comes to its end.
 * Owns the order items → clean up → settle → reconcile → report → last steps; must not look into an item's conversation.
 */
import { remember, wasSeen } from '../machine/requests.ts';
import { earliest } from '../time.ts';
import { CLEANUP_TIMEOUT_MS } from '../limits.ts';
import { admissionDeadline, admit } from './admission/admission.ts';
import { backToWork, WAITS_AGAIN, wasPassedOver } from './back-to-work.ts';
import { releaseSandboxes, removeConversations, sandboxesSettled } from './cleanup.ts';
import { beginClosing, closingExpired } from './closing.ts';
import { endingOf } from './failure-class.ts';
import { hold } from './admission/hold.ts';
import { endAttempt, itemsDeadline, itemsExpired, stopItem } from './items/items.ts';
import type { RunEvent } from './message.ts';
import { isSharded } from './shards.ts';
import { hasEndedForGood, itemsByPhase } from './items-by-phase.ts';
import { changePace } from './admission/pace.ts';
import { poolDeadline, warmPoolAgain } from './admission/pool.ts';
import { changeSettings, recordAmendment } from './settings.ts';
import type { RunItem, RunState } from './state.ts';
import { changeItem, type RunTurn } from './turn.ts';

/** The reason of a run that a person holds. */
export const HELD_BY_USER = 'user';
/** Keys that an amendment names; the others it counts. */
const NAMED_MAX = 5;

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

const CANCELLED = endingOf({ seen: 'cancelled' });

function isFirst({ state }: RunTurn, requestId: string): boolean {
  if (wasSeen(state.seen, requestId)) return false;
  state.seen = remember(state.seen, requestId);
  return true;
}

/** Ends what waits, stops what works; what was made so far is still collected. */
export function cancel(turn: RunTurn, event: EventOf<'cancelRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  if (event.keys !== undefined) return cancelItems(turn, event.keys, event.by);
  turn.state.mode = 'cancelling';
  turn.state.reason = 'cancelled';
  for (const index of turn.state.items.keys()) cancelItem(turn, index);
}

/** The run itself goes on. */
function cancelItems(turn: RunTurn, keys: readonly string[], by: string | undefined): void {
  const indexes = indexesOf(turn.state, keys).filter((index) => turn.state.items[index]?.phase !== 'ended');
  if (indexes.length === 0) return;
  for (const index of indexes) cancelItem(turn, index);
  recordAmendment(turn, `cancelled ${named(turn.state, indexes)}`, by);
}

function cancelItem(turn: RunTurn, index: number): void {
  const phase = turn.state.items[index]?.phase;
  if (phase === 'waiting') endAttempt(turn, index, CANCELLED);
  else if (phase === 'starting' || phase === 'working') stopItem(turn, index, CANCELLED);
}

/** Nothing new begins; what is in flight goes on. */
export function drain(turn: RunTurn, event: EventOf<'drainRequested'>): void {
  if (!isFirst(turn, event.requestId) || turn.state.mode === 'cancelling') return;
  turn.state.mode = 'draining';
  turn.state.reason = 'drained';
}

/** As a drained run, but its host stays: somebody means to resume it. */
export function holdRun(turn: RunTurn, event: EventOf<'holdRequested'>): void {
  if (!isFirst(turn, event.requestId) || turn.state.mode !== 'normal') return;
  hold(turn, HELD_BY_USER);
}

/** Admits again, and takes up what failed in one of the classes named; spend is never reset. */
export function resume(turn: RunTurn, event: EventOf<'resumeRequested'>): void {
  const { state } = turn;
  if (!isFirst(turn, event.requestId)) return;
  const retaken = [...state.items.keys()].filter((index) => isRetaken(state.items[index], event));
  if (state.mode === 'normal' && retaken.length === 0 && state.trip === undefined) return;
  const stoodStill = state.mode !== 'normal';
  // A run that stood still begins as softly as a new one.
  if (stoodStill) changePace(turn, { rampFrom: turn.now });
  state.mode = 'normal';
  state.reason = null;
  state.breakerHits = [];
  state.trip = undefined;
  takeUp(turn, retaken);
  if (stoodStill) warmPoolAgain(turn);
}

/** However they ended; who was skipped for them is looked at again. */
export function requeue(turn: RunTurn, event: EventOf<'requeueRequested'>): void {
  const { state } = turn;
  if (!isFirst(turn, event.requestId) || state.mode === 'cancelling') return;
  if (hasEndedForGood(state)) return;
  const indexes = indexesOf(state, event.keys).filter((index) => state.items[index]?.phase === 'ended');
  if (indexes.length === 0) return;
  takeUp(turn, indexes);
  recordAmendment(turn, `requeued ${named(state, indexes)}`, event.by);
}

export function setSettings(turn: RunTurn, event: EventOf<'settingsChanged'>): void {
  if (isFirst(turn, event.requestId)) changeSettings(turn, event);
}

/** Items wait again, with all their tries, and a run that was on its way to its end goes back to work. */
function takeUp(turn: RunTurn, indexes: readonly number[]): void {
  const { state } = turn;
  if (indexes.length === 0) return;
  const skipped = [...state.items.keys()].filter((index) => wasPassedOver(state.items[index]));
  for (const index of new Set([...indexes, ...skipped])) changeItem(turn, index, WAITS_AGAIN);
  backToWork(turn);
}

function isRetaken(item: RunItem | undefined, event: EventOf<'resumeRequested'>): boolean {
  const failureClass = item?.ending?.failureClass ?? null;
  return item?.phase === 'ended' && failureClass !== null && event.classes.includes(failureClass);
}

function indexesOf({ items }: RunState, keys: readonly string[]): readonly number[] {
  const wanted = new Set(keys);
  return [...items.keys()].filter((index) => wanted.has(items[index]?.key ?? ''));
}

/** A long list is in the rows of the items. */
function named({ items }: RunState, indexes: readonly number[]): string {
  const keys = indexes.slice(0, NAMED_MAX).map((index) => items[index]?.key ?? '');
  const more = indexes.length - keys.length;
  return more === 0 ? keys.join(' ') : `${keys.join(' ')} and ${more} more`;
}

/** After every event: begin what may begin, let go of what nobody needs, and move on when all is done. */
export function pursue(turn: RunTurn): void {
  admit(turn);
  if (turn.state.mode === 'cancelling') endWaiting(turn);
  releaseSandboxes(turn);
  advance(turn);
}

/** A budget that cancels leaves only those that wait: nothing was in flight any more. */
function endWaiting(turn: RunTurn): void {
  for (const index of itemsByPhase(turn.state).waiting)
    endAttempt(turn, index, endingOf({ seen: 'budget_exceeded' }));
}

function advance(turn: RunTurn): void {
  const { state } = turn;
  if (state.phase === 'running' && haveAllEnded(state)) beginCleaning(turn);
  if (state.phase === 'cleaning' && sandboxesSettled(state)) endCleaning(turn);
}

function haveAllEnded(state: RunState): boolean {
  const { waiting, inFlight } = itemsByPhase(state);
  return waiting.length === 0 && inFlight.length === 0;
}

/** A sandbox that cannot be stopped never says that it is gone: the wait for it has an end (D13). */
function beginCleaning(turn: RunTurn): void {
  turn.state.phase = 'cleaning';
  turn.state.cleanBy = turn.now + CLEANUP_TIMEOUT_MS;
  releaseSandboxes(turn);
}

function endCleaning(turn: RunTurn): void {
  turn.state.cleanBy = null;
  removeConversations(turn);
  settle(turn);
}

function settle(turn: RunTurn): void {
  const { state } = turn;
  const { settleMs } = state.rules;
  if (settleMs === null) return report(turn);
  state.phase = 'settling';
  state.settleAt = turn.now + settleMs;
  if (settleMs === 0) settled(turn);
}

/** Late rows had their time: join the gateway's rows with the conversations (D27). */
function settled(turn: RunTurn): void {
  const { state } = turn;
  state.settleAt = null;
  state.phase = 'reconciling';
  state.awaiting = turn.order({ type: 'reconcileRun', runId: state.runId });
}

export function reconciled(turn: RunTurn, event: EventOf<'runReconciled'>): void {
  if (turn.state.awaiting !== event.commandId) return;
  turn.state.reconciliation = event.summary;
  turn.state.reconcileError = null;
  report(turn);
}

/** A report without its reconciliation says so; nothing is lost, `parley reconcile` repeats it. */
export function reconcileUnsuccessful(turn: RunTurn, event: EventOf<'reconcileFailed'>): void {
  if (turn.state.awaiting !== event.commandId) return;
  turn.state.reconcileError = event.reason;
  report(turn);
}

function report(turn: RunTurn): void {
  turn.state.phase = 'reporting';
  turn.state.awaiting = turn.order({ type: 'reportRun', runId: turn.state.runId });
}

export function reported(turn: RunTurn, event: EventOf<'runReported'>): void {
  if (turn.state.awaiting !== event.commandId) return;
  turn.state.awaiting = null;
  beginClosing(turn);
}

export function expired(turn: RunTurn): void {
  const { state } = turn;
  if (state.settleAt !== null && turn.now >= state.settleAt) settled(turn);
  if (state.cleanBy !== null && turn.now >= state.cleanBy) endCleaning(turn);
  closingExpired(turn);
  if (!isSharded(state)) itemsExpired(turn);
}

/** The one instant a driver has to arm a timer for. */
export function runDeadline(state: RunState): number | null {
  if (state.phase !== 'running') return earliest(state.settleAt, state.cleanBy, state.closing?.by ?? null);
  const ofItems = isSharded(state) ? null : itemsDeadline(state);
  return earliest(ofItems, admissionDeadline(state), poolDeadline(state));
}
