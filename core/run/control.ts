/**
 * The run as a whole: what users request of it, and how it comes to its end.
 * Owns the order items → clean up → settle → reconcile → report → last steps; must not read a conversation.
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
import { itemsDeadline } from './items/item-deadlines.ts';
import { endAttempt } from './items/attempt-end.ts';
import { itemsExpired, stopItem } from './items/items.ts';
import type { RunEvent } from './message.ts';
import { hasEndedForGood, itemsByPhase } from './items-by-phase.ts';
import { changePace } from './admission/pace.ts';
import { poolDeadline, warmPoolAgain } from './admission/pool.ts';
import { changeSettings, recordAmendment } from './settings.ts';
import type { RunItem, RunState } from './state.ts';
import { changeItem, type RunContext } from './run-context.ts';

/** The reason of a run that a user holds. */
export const HELD_BY_USER = 'user';
/** Keys that an amendment names; the others it counts. */
const NAMED_MAX = 5;

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

const CANCELLED = endingOf({ seen: 'cancelled' });

function isFirst({ state }: RunContext, requestId: string): boolean {
  if (wasSeen(state.seen, requestId)) return false;
  state.seen = remember(state.seen, requestId);
  return true;
}

/** Ends what waits, stops what works; what was made so far is still collected. */
export function cancel(context: RunContext, event: EventOf<'cancelRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  if (event.keys !== undefined) return cancelItems(context, event.keys, event.by);
  context.state.mode = 'cancelling';
  context.state.reason = 'cancelled';
  for (const index of context.state.items.keys()) cancelItem(context, index);
}

/** The run itself goes on. */
function cancelItems(context: RunContext, keys: readonly string[], by: string | undefined): void {
  const indexes = indexesOf(context.state, keys).filter(
    (index) => context.state.items[index]?.phase !== 'ended',
  );
  if (indexes.length === 0) return;
  for (const index of indexes) cancelItem(context, index);
  recordAmendment(context, `cancelled ${named(context.state, indexes)}`, by);
}

function cancelItem(context: RunContext, index: number): void {
  const phase = context.state.items[index]?.phase;
  if (phase === 'waiting') endAttempt(context, index, CANCELLED);
  else if (phase === 'starting' || phase === 'working') stopItem(context, index, CANCELLED);
}

/** Nothing new begins; what is in flight goes on. */
export function drain(context: RunContext, event: EventOf<'drainRequested'>): void {
  if (!isFirst(context, event.requestId) || context.state.mode === 'cancelling') return;
  context.state.mode = 'draining';
  context.state.reason = 'drained';
}

/** As a drained run, but its host stays: the user means to resume it. */
export function holdRun(context: RunContext, event: EventOf<'holdRequested'>): void {
  if (!isFirst(context, event.requestId) || context.state.mode !== 'normal') return;
  hold(context, HELD_BY_USER);
}

/** Admits again, and takes up what failed in one of the classes named; spend is never reset. */
export function resume(context: RunContext, event: EventOf<'resumeRequested'>): void {
  const { state } = context;
  if (!isFirst(context, event.requestId)) return;
  const retaken = [...state.items.keys()].filter((index) => isRetaken(state.items[index], event));
  if (state.mode === 'normal' && retaken.length === 0 && state.trip === undefined) return;
  const stoodStill = state.mode !== 'normal';
  // A run that stood still begins as softly as a new one.
  if (stoodStill) changePace(context, { rampFrom: context.now });
  state.mode = 'normal';
  state.reason = null;
  state.breakerHits = [];
  state.trip = undefined;
  takeUp(context, retaken);
  if (stoodStill) warmPoolAgain(context);
}

/** However they ended; items that were skipped for them are decided again. */
export function requeue(context: RunContext, event: EventOf<'requeueRequested'>): void {
  const { state } = context;
  if (!isFirst(context, event.requestId) || state.mode === 'cancelling') return;
  if (hasEndedForGood(state)) return;
  const indexes = indexesOf(state, event.keys).filter((index) => state.items[index]?.phase === 'ended');
  if (indexes.length === 0) return;
  takeUp(context, indexes);
  recordAmendment(context, `requeued ${named(state, indexes)}`, event.by);
}

export function setSettings(context: RunContext, event: EventOf<'settingsChanged'>): void {
  if (isFirst(context, event.requestId)) changeSettings(context, event);
}

/** Items wait again, with all their tries, and a run that was on its way to its end goes back to work. */
function takeUp(context: RunContext, indexes: readonly number[]): void {
  const { state } = context;
  if (indexes.length === 0) return;
  const skipped = [...state.items.keys()].filter((index) => wasPassedOver(state.items[index]));
  for (const index of new Set([...indexes, ...skipped])) changeItem(context, index, WAITS_AGAIN);
  backToWork(context);
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

/** After every event: begin what may begin, release what is not needed, and move on when all is done. */
export function pursue(context: RunContext): void {
  admit(context);
  if (context.state.mode === 'cancelling') endWaiting(context);
  releaseSandboxes(context);
  advance(context);
}

/** A budget that cancels leaves only those that wait: nothing was in flight any more. */
function endWaiting(context: RunContext): void {
  for (const index of itemsByPhase(context.state).waiting)
    endAttempt(context, index, endingOf({ seen: 'budget_exceeded' }));
}

function advance(context: RunContext): void {
  const { state } = context;
  if (state.phase === 'running' && haveAllEnded(state)) beginCleaning(context);
  if (state.phase === 'cleaning' && sandboxesSettled(state)) endCleaning(context);
}

function haveAllEnded(state: RunState): boolean {
  const { waiting, inFlight } = itemsByPhase(state);
  return waiting.length === 0 && inFlight.length === 0;
}

/** A sandbox that cannot be stopped never reports that it is gone: the wait for it has an end (D13). */
function beginCleaning(context: RunContext): void {
  context.state.phase = 'cleaning';
  context.state.cleanBy = context.now + CLEANUP_TIMEOUT_MS;
  releaseSandboxes(context);
}

function endCleaning(context: RunContext): void {
  context.state.cleanBy = null;
  removeConversations(context);
  settle(context);
}

function settle(context: RunContext): void {
  const { state } = context;
  const { settleMs } = state.rules;
  if (settleMs === null) return report(context);
  state.phase = 'settling';
  state.settleAt = context.now + settleMs;
  if (settleMs === 0) settled(context);
}

/** Late rows had their time: join the gateway's rows with the conversations (D27). */
function settled(context: RunContext): void {
  const { state } = context;
  state.settleAt = null;
  state.phase = 'reconciling';
  state.awaiting = context.order({ type: 'reconcileRun', runId: state.runId });
}

export function reconciled(context: RunContext, event: EventOf<'runReconciled'>): void {
  if (context.state.awaiting !== event.commandId) return;
  context.state.reconciliation = event.summary;
  context.state.reconcileError = null;
  report(context);
}

/** A report without its reconciliation says so; nothing is lost, `parley reconcile` repeats it. */
export function reconcileUnsuccessful(context: RunContext, event: EventOf<'reconcileFailed'>): void {
  if (context.state.awaiting !== event.commandId) return;
  context.state.reconcileError = event.reason;
  report(context);
}

function report(context: RunContext): void {
  context.state.phase = 'reporting';
  context.state.awaiting = context.order({ type: 'reportRun', runId: context.state.runId });
}

export function reported(context: RunContext, event: EventOf<'runReported'>): void {
  if (context.state.awaiting !== event.commandId) return;
  context.state.awaiting = null;
  beginClosing(context);
}

export function expired(context: RunContext): void {
  const { state } = context;
  if (state.settleAt !== null && context.now >= state.settleAt) settled(context);
  if (state.cleanBy !== null && context.now >= state.cleanBy) endCleaning(context);
  closingExpired(context);
  itemsExpired(context);
}

/** The one instant a driver has to arm a timer for. */
export function runDeadline(state: RunState): number | null {
  if (state.phase !== 'running') return earliest(state.settleAt, state.cleanBy, state.closing?.by ?? null);
  return earliest(itemsDeadline(state), admissionDeadline(state), poolDeadline(state));
}
