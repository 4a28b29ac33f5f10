/**
 * How fast a run begins its items: places that are free now, the distance between starts, the canary.
 * Owns ramp, rate and the adaptive limit; must not choose which item begins, nor read money.
 */
import type { FailureClass } from '../../status.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import { initPace } from '../init.ts';
import { poolPlaces } from './pool.ts';
import type { RunRules } from '../rules.ts';
import type { Pace, RunState } from '../state.ts';
import type { RunContext } from '../run-context.ts';

/** Failures that come together are one signal of the endpoint: places are halved once for all of them. */
const LOWER_AGAIN_MS = 30_000;

export function paceOf({ pace, createdAt, rules }: RunState): Pace {
  return pace ?? initPace(rules, createdAt);
}

/** An unchanged value is not written: a step that changes nothing stays silent. */
export function changePace({ state }: RunContext, change: Partial<Pace>): void {
  const before = paceOf(state);
  const names = Object.keys(change) as readonly (keyof Pace)[];
  if (names.some((name) => before[name] !== change[name])) state.pace = { ...before, ...change };
}

/** Which limit says how many may be in flight; the job's own number when nothing lowers it. */
export type PlaceLimit = 'concurrency' | 'capacity' | 'pool' | 'ramp' | 'adaptive';

export interface Places {
  readonly max: number;
  readonly by: PlaceLimit;
}

export function placesOf(state: RunState, now: number): Places {
  const { concurrency } = state.rules;
  const adaptive = Math.min(concurrency, paceOf(state).places ?? concurrency);
  const ramp = rampPlaces(state, now);
  const pool = poolPlaces(state, now);
  const capacity = capacityPlaces(state.rules);
  if (capacity < Math.min(ramp, adaptive, pool ?? Number.POSITIVE_INFINITY))
    return { max: capacity, by: 'capacity' };
  if (pool !== null && pool < Math.min(ramp, adaptive)) return { max: pool, by: 'pool' };
  if (ramp < adaptive) return { max: ramp, by: 'ramp' };
  return { max: adaptive, by: adaptive < concurrency ? 'adaptive' : 'concurrency' };
}

/** No item begins that could get no place whatever the others do: only those that could stand in the line (D29). */
function capacityPlaces({ capacity, sharesSandboxes, pool }: RunRules): number {
  if (capacity === undefined) return Number.POSITIVE_INFINITY;
  const { slotsMax, perSandboxMax } = capacity;
  if (pool !== undefined)
    return slotsMax * Math.max(pool.maxPerSandbox, pool.onFull === 'spill' ? perSandboxMax : 1);
  return sharesSandboxes ? slotsMax * perSandboxMax : slotsMax;
}

/** One place at once, all of them at the end of the ramp, evenly in between. */
function rampPlaces(state: RunState, now: number): number {
  const { concurrency, rampMs = 0 } = state.rules;
  const sinceMs = now - paceOf(state).rampFrom;
  if (sinceMs >= rampMs) return concurrency;
  return 1 + Math.floor((Math.max(0, sinceMs) * (concurrency - 1)) / rampMs);
}

/** When the ramp gives the next place; null when it gives none any more. */
export function nextPlaceAt(state: RunState): number | null {
  const inFlight = itemsByPhase(state).inFlight.length;
  const { concurrency, rampMs = 0 } = state.rules;
  if (rampMs === 0 || inFlight >= concurrency || inFlight < 1) return null;
  return paceOf(state).rampFrom + Math.ceil((inFlight * rampMs) / (concurrency - 1));
}

/** The earliest instant at which the rate lets another item begin; null for at once. */
export function nextStartAt(state: RunState): number | null {
  const { startEveryMs } = state.rules;
  const { lastStartAt } = paceOf(state);
  return startEveryMs === undefined || lastStartAt === null ? null : lastStartAt + startEveryMs;
}

/** Called when an item begins. */
export function countStart(context: RunContext): void {
  if (context.state.rules.startEveryMs !== undefined) changePace(context, { lastStartAt: context.now });
}

/** Called when an attempt ended: a failure lowers the places, enough calm gives one back. */
export function attemptEnded(context: RunContext, failureClass: FailureClass | null): void {
  const { state } = context;
  const { adaptive, concurrency } = state.rules;
  if (adaptive === undefined) return;
  if (failureClass !== null && adaptive.on.includes(failureClass)) return slowDown(context, failureClass);
  const { places, calm } = paceOf(state);
  if (places === null) return;
  // One place for each round of as many as may be in flight: a place given back sooner would be lost again soon.
  if (calm + 1 < places) return changePace(context, { calm: calm + 1 });
  changePace(context, { calm: 0, places: places + 1 >= concurrency ? null : places + 1 });
}

/** Halves the places; what is in flight goes on. */
export function slowDown(context: RunContext, failureClass: FailureClass): void {
  const { state, now } = context;
  const { adaptive, concurrency } = state.rules;
  if (adaptive?.on.includes(failureClass) !== true) return;
  const { places, loweredAt } = paceOf(state);
  if (loweredAt !== null && now < loweredAt + LOWER_AGAIN_MS) return changePace(context, { calm: 0 });
  const halved = Math.max(adaptive.min, Math.floor(Math.min(places ?? concurrency, concurrency) / 2));
  changePace(context, { places: halved, loweredAt: now, calm: 0 });
}
