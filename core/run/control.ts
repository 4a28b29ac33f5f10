/**
 * The run as a whole: what users ask of it, and how it comes to its end.
 * Owns the order items → clean up → settle → reconcile → report; must not look into an item's conversation.
 */
import { remember, wasSeen } from '../requests.ts';
import { earliest } from '../time.ts';
import { CLEANUP_TIMEOUT_MS } from '../limits.ts';
import { admit, mayAdmit } from './admission.ts';
import { releaseSandboxes, removeConversations, sandboxesSettled } from './cleanup.ts';
import { endAttempt, itemDeadline, itemExpired, stopItem } from './items.ts';
import type { RunEvent } from './message.ts';
import { standingOf } from './standing.ts';
import type { Ending, RunState } from './state.ts';
import { changeItem, type RunTurn } from './turn.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

const CANCELLED: Ending = { outcome: 'cancelled', failureClass: 'cancelled', detail: null };

function isFirst({ state }: RunTurn, requestId: string): boolean {
  if (wasSeen(state.seen, requestId)) return false;
  state.seen = remember(state.seen, requestId);
  return true;
}

/** Ends what waits, stops what works; what was made so far is still collected. */
export function cancel(turn: RunTurn, event: EventOf<'cancelRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  turn.state.mode = 'cancelling';
  turn.state.reason = 'cancelled';
  for (const [index, item] of turn.state.items.entries()) {
    if (item.phase === 'waiting') endAttempt(turn, index, CANCELLED);
    else if (item.phase === 'starting' || item.phase === 'working') stopItem(turn, index, CANCELLED);
  }
}

/** Nothing new begins; what is in flight goes on. */
export function drain(turn: RunTurn, event: EventOf<'drainRequested'>): void {
  if (!isFirst(turn, event.requestId) || turn.state.mode === 'cancelling') return;
  turn.state.mode = 'draining';
  turn.state.reason = 'drained';
}

/** Admits again, and takes up what failed in one of the classes named; spend is never reset. */
export function resume(turn: RunTurn, event: EventOf<'resumeRequested'>): void {
  const { state } = turn;
  if (!isFirst(turn, event.requestId)) return;
  const retakes = state.items.some((item) => isRetaken(item, event));
  if (state.mode === 'normal' && !retakes) return;
  state.mode = 'normal';
  state.reason = null;
  state.breakerHits = [];
  for (const [index, item] of state.items.entries()) {
    if (isRetaken(item, event))
      changeItem(turn, index, { phase: 'waiting', failures: {}, notBefore: null, endedAt: null });
  }
  if (!retakes || state.phase === 'running') return;
  if (state.awaiting !== null) turn.order({ type: 'cancelCommand', commandId: state.awaiting });
  state.awaiting = null;
  state.settleAt = null;
  state.cleanBy = null;
  state.endedAt = null;
  state.phase = 'running';
}

function isRetaken(item: RunState['items'][number], event: EventOf<'resumeRequested'>): boolean {
  const failureClass = item.ending?.failureClass ?? null;
  return item.phase === 'ended' && failureClass !== null && event.classes.includes(failureClass);
}

export function changeConcurrency(turn: RunTurn, event: EventOf<'concurrencyChanged'>): void {
  if (!isFirst(turn, event.requestId) || event.concurrency < 1) return;
  turn.state.rules = { ...turn.state.rules, concurrency: Math.floor(event.concurrency) };
}

/** After every event: begin what may begin, let go of what nobody needs, and move on when all is done. */
export function pursue(turn: RunTurn): void {
  admit(turn);
  releaseSandboxes(turn);
  advance(turn);
}

function advance(turn: RunTurn): void {
  const { state } = turn;
  if (state.phase === 'running' && haveAllEnded(state)) beginCleaning(turn);
  if (state.phase === 'cleaning' && sandboxesSettled(state)) endCleaning(turn);
}

function haveAllEnded(state: RunState): boolean {
  const { waiting, inFlight } = standingOf(state);
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
  turn.state.phase = 'finished';
  turn.state.endedAt = turn.now;
}

export function expired(turn: RunTurn): void {
  const { state } = turn;
  if (state.settleAt !== null && turn.now >= state.settleAt) settled(turn);
  if (state.cleanBy !== null && turn.now >= state.cleanBy) endCleaning(turn);
  for (const index of standingOf(state).inFlight) itemExpired(turn, index);
}

/** The one instant a driver has to arm a timer for. */
export function runDeadline(state: RunState): number | null {
  if (state.phase !== 'running') return earliest(state.settleAt, state.cleanBy);
  const { waiting, inFlight } = standingOf(state);
  // A waiting item that cannot begin anyway needs no timer: the end of another one looks at it.
  return earliest(earliestOf(state, inFlight), mayAdmit(state) ? earliestOf(state, waiting) : null);
}

function earliestOf({ items, rules }: RunState, indexes: readonly number[]): number | null {
  let first: number | null = null;
  for (const index of indexes) {
    const item = items[index];
    const at = item === undefined ? null : itemDeadline(item, rules.wait.deadlineMs);
    if (at !== null && (first === null || at < first)) first = at;
  }
  return first;
}
