/**
 * Failures that pile up, and when a failed item may try again.
 * Owns breaker and retry rules; must not end an attempt.
 */
import type { FailureClass } from '../status.ts';
import { hold } from './hold.ts';
import type { RunItem, RunState } from './state.ts';
import type { RunTurn } from './turn.ts';

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
