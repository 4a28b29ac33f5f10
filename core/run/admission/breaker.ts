/**
 * Failures that pile up, and when a failed item may try again.
 * Owns breaker and retry rules; must not end an attempt, nor begin one.
 */
import { retryOf } from '../../plan/item-rules.ts';
import { SECOND_MS } from '../../time.ts';
import type { FailureClass } from '../../status.ts';
import { hold } from './hold.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import type { Ending, RunItem, RunState } from '../state.ts';
import type { RunContext } from '../run-context.ts';

/** Counts a failure; enough of them in the window hold the batch, and burn no retries meanwhile. */
export function countForBreaker(context: RunContext, failureClass: FailureClass): void {
  const { state } = context;
  const { breaker } = state.rules;
  if (breaker === null || !breaker.on.includes(failureClass)) return;
  // What still ends while it is open began before, and adds nothing new.
  if (state.trip !== undefined) return;
  const recent = state.breakerHits.filter((at) => at > context.now - breaker.windowMs);
  state.breakerHits = [...recent, context.now].slice(-breaker.count);
  if (state.breakerHits.length < breaker.count || state.mode !== 'normal') return;
  if (breaker.recover === undefined) hold(context, `breaker:${failureClass}`);
  else open(context, failureClass);
}

/** Nothing begins until it has cooled down. */
function open(context: RunContext, failureClass: FailureClass): void {
  const { state } = context;
  const afterMs = state.rules.breaker?.recover?.afterMs ?? 0;
  state.trip = { until: context.now + afterMs, probingSince: null, passed: 0 };
  state.breakerHits = [];
  record(
    context,
    'breaker_opened',
    `${failureClass}: nothing begins for ${Math.round(afterMs / SECOND_MS)} s`,
  );
}

/** Why nothing begins while the breaker is open, and until when; null when one more may begin. */
export function breakerHold(context: RunContext): { readonly until: number | null } | null {
  const { state, now } = context;
  const { trip } = state;
  const probes = state.rules.breaker?.recover?.probes;
  if (trip === undefined || probes === undefined) return null;
  if (trip.probingSince === null && now < trip.until) return { until: trip.until };
  const probingSince = trip.probingSince ?? now;
  if (trip.probingSince === null) state.trip = { ...trip, probingSince };
  const probing = probesInFlight(state, probingSince);
  return probing + trip.passed < probes ? null : { until: null };
}

export function probesInFlight(state: RunState, probingSince: number): number {
  const isProbe = (index: number): boolean => isBegunSince(state.items[index], probingSince);
  return itemsByPhase(state).inFlight.filter(isProbe).length;
}

function isBegunSince(item: RunItem | undefined, instant: number): boolean {
  return item?.admittedAt != null && item.admittedAt >= instant;
}

/** A probe that fails as counted opens the breaker again; enough that end otherwise close it. */
export function probeEnded(context: RunContext, item: RunItem, { failureClass, outcome }: Ending): void {
  const { trip, rules } = context.state;
  const { breaker } = rules;
  if (trip === undefined || breaker?.recover === undefined || trip.probingSince === null) return;
  if (!isBegunSince(item, trip.probingSince)) return;
  if (failureClass !== null && breaker.on.includes(failureClass)) return open(context, failureClass);
  // An item that was cancelled says nothing of what failed.
  if (outcome === 'cancelled') return;
  const passed = trip.passed + 1;
  if (passed < breaker.recover.probes) {
    context.state.trip = { ...trip, passed };
    return;
  }
  context.state.trip = undefined;
  record(context, 'breaker_closed', `${passed} went well`);
}

function record(context: RunContext, code: string, detail: string): void {
  const about = { machine: 'run', id: context.state.runId } as const;
  context.order({ type: 'record', event: { about, conversationId: null, code, detail } });
}

/** When a failed item may try again, or null when its rule is used up. */
export function retryAt(
  item: RunItem,
  failureClass: FailureClass,
  state: RunState,
  now: number,
): number | null {
  const rule = retryOf(item.own, state.rules).find(({ on }) => on.includes(failureClass));
  const failures = item.failures[failureClass] ?? 0;
  if (rule === undefined || failures > rule.attempts) return null;
  const wait = Math.min(rule.maxMs, rule.initialMs * rule.factor ** Math.max(0, failures - 1));
  return now + Math.round(wait);
}
