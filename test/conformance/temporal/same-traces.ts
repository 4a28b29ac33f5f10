/**
 * What equal means between the simulator and an engine whose clock cannot be held: the same steps of every entity, with
 * the same views, orders and states; instants may be late by the real time that passed.
 * Owns the comparison; must not play anything.
 */
import type { EntityTraces, TracedStep } from '../entity-traces.ts';
import { START_AT } from '../../../simulator/script.ts';

/** Numbers from here on are instants: 2001 in epoch milliseconds, a thousand USD in nano-USD. */
const INSTANT_MIN = 1_000_000_000_000;
/** The fields that hold a span between two instants of the entity: what an item has worked, what a stop took. */
const SPANS: ReadonlySet<string> = new Set(['workedMs', 'stopMs']);
/** Fields that hold money. */
const MONEY = /NanoUsd$/;
/** By so much an instant may differ, and by so much more for every step of its entity before it, up to a bound. */
const LATE_MS = 2_000;
const LATE_PER_STEP_MS = 100;
const LATE_MAX_MS = 5_000;

export interface LateTraces {
  readonly traces: EntityTraces;
  /** The instant at which the script began, epoch milliseconds. */
  readonly startAt: number;
  /** Real time in which the engine's clock could not be held, from the beginning up to each step of an entity. */
  readonly passedMs: ReadonlyMap<string, readonly number[]>;
}

/**
 * What differs, one sentence for each entity; empty when nothing does. `nanoUsdPerMs`: what a millisecond of work costs
 * where work is cut short by a clock, so that what is late is billed; 0 where money must be the same.
 */
export function differences(
  wanted: EntityTraces,
  played: LateTraces,
  { nanoUsdPerMs = 0 }: { readonly nanoUsdPerMs?: number } = {},
): readonly string[] {
  const found: string[] = [];
  for (const entity of new Set([...wanted.byEntity.keys(), ...played.traces.byEntity.keys()])) {
    const steps = wanted.byEntity.get(entity) ?? [];
    const others = played.traces.byEntity.get(entity) ?? [];
    const passedMs = played.passedMs.get(entity) ?? [];
    for (let index = 0; index < Math.max(steps.length, others.length); index += 1) {
      const rule = Math.min(LATE_MAX_MS, LATE_MS + LATE_PER_STEP_MS * index);
      const lateMs = Math.max(rule, passedMs[index] ?? 0);
      const where = differenceOf(steps[index], others[index], {
        startAt: played.startAt,
        lateMs,
        nanoUsdPerMs,
      });
      if (where === null) continue;
      // What comes after the first difference follows from it.
      found.push(`${entity}, step ${index + 1}: ${where}`);
      break;
    }
  }
  return found;
}

/** The largest distance of two instants of the same step, in milliseconds. */
export function largestLateness(wanted: EntityTraces, { traces }: LateTraces): number {
  let largest = 0;
  for (const [entity, steps] of wanted.byEntity)
    for (const [index, { atMs }] of steps.entries())
      largest = Math.max(largest, Math.abs((traces.byEntity.get(entity)?.[index]?.atMs ?? atMs) - atMs));
  return largest;
}

interface Leeway {
  readonly startAt: number;
  readonly lateMs: number;
  readonly nanoUsdPerMs: number;
}

function differenceOf(
  wanted: TracedStep | undefined,
  played: TracedStep | undefined,
  leeway: Leeway,
): string | null {
  if (wanted === undefined || played === undefined)
    return `${(wanted ?? played)?.event} is in ${wanted === undefined ? 'the second' : 'the first'} only`;
  const whole = ({ event, view, orders, state }: TracedStep) => ({
    event,
    view,
    orders,
    state: JSON.parse(state) as unknown,
  });
  const where = pathOfDifference(whole(wanted), whole(played), leeway);
  if (where !== null) return `${wanted.event}: ${where}`;
  return Math.abs(wanted.atMs - played.atMs) <= leeway.lateMs
    ? null
    : `${wanted.event} at ${wanted.atMs} ms and at ${played.atMs} ms`;
}

/** Path and both values of the first difference; null when there is none. */
function pathOfDifference(wanted: unknown, played: unknown, leeway: Leeway): string | null {
  if (isInstant(wanted) && isInstant(played)) {
    const apartMs = wanted - START_AT - (played - leeway.startAt);
    if (Math.abs(apartMs) <= leeway.lateMs) return null;
  } else if (isTree(wanted) && isTree(played)) {
    for (const key of new Set([...Object.keys(wanted), ...Object.keys(played)])) {
      if (SPANS.has(key) && areAlike(wanted[key], played[key], 2 * leeway.lateMs)) continue;
      if (MONEY.test(key) && areAlike(wanted[key], played[key], leeway.lateMs * leeway.nanoUsdPerMs))
        continue;
      const deeper = pathOfDifference(wanted[key], played[key], leeway);
      if (deeper !== null) return `${key}.${deeper}`;
    }
    return null;
  } else if (wanted === played) return null;
  return ` ${JSON.stringify(wanted)} and ${JSON.stringify(played)}`;
}

/** A span of time is late at both of its ends, at most; money is late as the instant up to which it counts. */
function areAlike(wanted: unknown, played: unknown, apartMax: number): boolean {
  return typeof wanted === 'number' && typeof played === 'number' && Math.abs(wanted - played) <= apartMax;
}

function isInstant(value: unknown): value is number {
  return typeof value === 'number' && value >= INSTANT_MIN;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
