/**
 * Which items may begin, and when a batch must hold.
 * Owns concurrency, order, budget and breaker; must not look into a conversation.
 */
import type { FailureClass } from '../status.ts';
import { changeItem, itemOrder, type RunTurn } from './turn.ts';
import { standingOf } from './standing.ts';
import type { RunItem, RunState } from './state.ts';

/** Fills free places: highest priority first, then plan order. */
export function admit(turn: RunTurn): void {
  const { state } = turn;
  if (state.phase !== 'running' || state.mode !== 'normal') return;
  let free = state.rules.concurrency - standingOf(state).inFlight.length;
  while (free > 0) {
    const index = nextWaiting(state, turn.now);
    if (index === null || !withinBudget(turn)) return;
    begin(turn, index);
    free -= 1;
  }
}

function nextWaiting(state: RunState, now: number): number | null {
  for (const index of standingOf(state).waiting) {
    const notBefore = state.items[index]?.notBefore ?? null;
    if (notBefore === null || notBefore <= now) return index;
  }
  return null;
}

function begin(turn: RunTurn, index: number): void {
  const before = turn.state.items[index];
  const item = changeItem(turn, index, {
    phase: 'starting',
    attempt: (before?.attempt ?? 0) + 1,
    conversationId: null,
    past: pastOf(before),
    noticed: -1,
    sandboxId: null,
    sandboxStatus: null,
    executionStatus: null,
    ending: null,
    admittedAt: turn.now,
    workingSince: null,
    notBefore: null,
    stopBy: null,
    continued: 0,
    limitReached: null,
  });
  if (item === null) return;
  const awaiting = turn.order({ ...itemOrder(turn, index, item), type: 'startConversation' });
  changeItem(turn, index, { awaiting });
}

function pastOf(item: RunItem | undefined): RunItem['past'] {
  if (item === undefined) return [];
  return item.conversationId === null ? item.past : [...item.past, item.conversationId];
}

/** Spent and held and one more must fit (budget by reservation). */
function fitsBudget(state: RunState): boolean {
  const { rules, spentNanoUsd } = state;
  if (rules.budget === null) return true;
  const { nanoUsd, reserveNanoUsd } = rules.budget;
  const held = standingOf(state).inFlight.length * reserveNanoUsd;
  return spentNanoUsd + held + reserveNanoUsd <= nanoUsd;
}

/** Only `enforce` holds the batch back. */
function withinBudget(turn: RunTurn): boolean {
  const { state } = turn;
  if (fitsBudget(state)) return true;
  if (state.rules.budget?.mode === 'audit') state.reason = 'budget';
  if (state.rules.budget?.mode !== 'enforce') return true;
  // While something is in flight its settlement may free what it held.
  if (standingOf(state).inFlight.length === 0) hold(turn, 'budget');
  return false;
}

/** False while nothing can begin whatever the time is: then no retry that is due needs a timer. */
export function mayAdmit(state: RunState): boolean {
  if (state.phase !== 'running' || state.mode !== 'normal') return false;
  if (standingOf(state).inFlight.length >= state.rules.concurrency) return false;
  return state.rules.budget?.mode !== 'enforce' || fitsBudget(state);
}

/** Nothing new begins until somebody resumes; what is in flight goes on. */
export function hold(turn: RunTurn, reason: string): void {
  turn.state.mode = 'paused';
  turn.state.reason = reason;
}

/** Counts a failure; enough of them in the window hold the batch, and burn no retries meanwhile. */
export function countForBreaker(turn: RunTurn, failureClass: FailureClass): void {
  const { state } = turn;
  const { breaker } = state.rules;
  if (breaker === null || !breaker.on.includes(failureClass)) return;
  const recent = state.breakerHits.filter((at) => at > turn.now - breaker.windowMs);
  state.breakerHits = [...recent, turn.now].slice(-breaker.count);
  if (state.breakerHits.length >= breaker.count && state.mode === 'normal')
    hold(turn, `breaker:${failureClass}`);
}

/** When a failed item may try again, or null when its rule is used up. */
export function retryAt(
  item: RunItem,
  failureClass: FailureClass,
  state: RunState,
  now: number,
): number | null {
  const rule = state.rules.retry.find(({ on }) => on.includes(failureClass));
  const failures = item.failures[failureClass] ?? 0;
  if (rule === undefined || failures > rule.attempts) return null;
  const wait = Math.min(rule.maxMs, rule.initialMs * rule.factor ** Math.max(0, failures - 1));
  return now + Math.round(wait);
}
