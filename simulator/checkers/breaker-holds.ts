/**
 * Of R1: what begins while the breaker is open, or half open.
 * Owns this one check; who is in flight is counted anew.
 */
import { isInFlight, type RunState } from '../../core/run/state.ts';

/** `before` and `after` of a step in which something began, at that instant of the run's own clock. */
export function beganThroughBreaker(before: RunState, after: RunState, now: number): string | null {
  const { trip } = before;
  const probes = before.rules.breaker?.recover?.probes;
  // A step that ends a probe may close the breaker before something begins, and a person may close it.
  if (trip === undefined || probes === undefined || after.trip === undefined) return null;
  if (trip.probingSince === null && now < trip.until)
    return `an item begins ${trip.until - now} ms before its breaker has cooled down`;
  const since = after.trip.probingSince;
  if (since === null) return 'an item begins, and its breaker is open';
  const probing = after.items.filter(
    (item) => isInFlight(item) && item.admittedAt !== null && item.admittedAt >= since,
  ).length;
  return probing > probes ? `${probing} probes of its breaker are in flight, and ${probes} may be` : null;
}
