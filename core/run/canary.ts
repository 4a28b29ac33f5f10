/**
 * The items that go first: the others begin only if all of these succeeded.
 * Owns how many may begin and the verdict on them; must not begin anything.
 */
import { countWell } from '../status.ts';
import { hold } from './hold.ts';
import { changePace, paceOf } from './pace.ts';
import { standingOf } from './standing.ts';
import type { RunState } from './state.ts';
import type { RunTurn } from './turn.ts';

/** How many items may still begin for the first time; tries after a failure are always let through. */
export function canaryPlaces(state: RunState): number {
  const { canary } = paceOf(state);
  if (canary === null) return Number.POSITIVE_INFINITY;
  return canary - underWay(state) - endedCount(state);
}

/** False when the canary is over and one of it did not succeed: then the run holds, and goes on when it is resumed. */
export function canaryLetsGo(turn: RunTurn): boolean {
  const { state } = turn;
  if (paceOf(state).canary === null || canaryPlaces(state) > 0 || underWay(state) > 0) return true;
  changePace(turn, { canary: null });
  if (endedCount(state) === countWell(standingOf(state).ended)) return true;
  hold(turn, 'canary');
  return false;
}

/** In flight, or waiting for another try. */
function underWay(state: RunState): number {
  const { waiting, inFlight } = standingOf(state);
  const tried = waiting.filter((index) => (state.items[index]?.attempt ?? 0) > 0);
  return inFlight.length + tried.length;
}

function endedCount(state: RunState): number {
  return Object.values(standingOf(state).ended).reduce((sum, count) => sum + count, 0);
}
