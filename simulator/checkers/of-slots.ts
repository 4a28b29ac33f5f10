/**
 * Invariants of which sandbox gets a slot and what a run begins.
 * Owns the checks on admission; must not decide whose turn it is.
 */
import { itemsByPhase } from '../../core/run/items-by-phase.ts';
import { isInFlight, type RunItem, type RunState } from '../../core/run/state.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { type Moment, PUNCTUAL, type SafetyCheck } from './checker.ts';
import { changedItems } from './of-runs.ts';

/** Between an offer and its answer no time passes; shorter than the interval at which a waiter retries by itself. */
const IDLE_MAX_MS = 10 * MINUTE_MS;

const OFFERS: ReadonlySet<string> = new Set(['offerRoom', 'removeConversation']);
const ASKS: ReadonlySet<string> = new Set(['placeConversation', 'reserveSlot']);

/** I31: no slot idles while a waiter's limits allow it one (D29). Must not decide whose turn it is. */
export function noSlotIdles(): SafetyCheck {
  let since = new Map<string, number>();
  /** A try may take as long as it likes. */
  const asking = new Set<string>();
  /** The latest offer that no waiter has received yet. */
  let offeredAt = -Infinity;
  return ({ step, facts, timeliness }: Moment) => {
    const { at, address, event, commands } = step;
    const before = since;
    since = new Map(facts.turns().map(({ waiterId }) => [waiterId, before.get(waiterId) ?? at]));
    const isOnItsWay = (from: number) => offeredAt >= from - MINUTE_MS;
    const idle = [...since].find(
      ([id, from]) => !asking.has(id) && at > from + IDLE_MAX_MS && !isOnItsWay(from),
    );
    // It acts: it requests a slot, has received an offer, or goes.
    if (since.has(address.id)) since.set(address.id, at);
    if (commands.some(({ type }) => ASKS.has(type))) asking.add(address.id);
    else asking.delete(address.id);
    if (event.type === 'roomOffered') offeredAt = -Infinity;
    if (commands.some(({ type }) => OFFERS.has(type))) offeredAt = at;
    if (idle === undefined || timeliness?.isDisturbed === true) return null;
    return `a slot is free for "${idle[0]}" since ${at - idle[1]} ms, and it waits in the line`;
  };
}

/** `before` and `after` of a step in which something began, at that instant of the run's own clock. */
function beganThroughBreaker(before: RunState, after: RunState, now: number): string | null {
  const { trip } = before;
  const probes = before.rules.breaker?.recover?.probes;
  // A step that ends a probe may close the breaker before something begins, and an operator may close it.
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

/**
 * R1: a run begins only what fits: places, budget with its reserves, pauses of retries, its mode; and it holds only
 * for a reason. Owns the checks on what a run begins; must not choose what comes next.
 */
export function admissionFits(moment: Moment): string | null {
  const { step, timeliness = PUNCTUAL } = moment;
  const before = step.before as RunState | null;
  const after = step.after as RunState;
  const now = step.at + timeliness.clockOffMs;
  return (
    countsRight(moment, before, after) ??
    beginsOnlyWhatFits(moment, after) ??
    (before === null
      ? null
      : (throughBreaker(moment, before, now) ??
        tooEarly(moment, before, now) ??
        heldForNothing(before, after, step.at - timeliness.clockOffMs)))
  );
}

/** What a run keeps of items in flight follows its items: from its first state on, changed items suffice. */
function countsRight(moment: Moment, before: RunState | null, after: RunState): string | null {
  let expected = before === null ? 0 : inFlightOf(before);
  for (const index of changedItems(moment)) {
    const was = before?.items[index];
    if (was !== undefined && isInFlight(was)) expected -= 1;
    if (isInFlight(after.items[index] as RunItem)) expected += 1;
  }
  const counted = inFlightOf(after);
  return counted === expected ? null : `it counts ${counted} items in flight, and ${expected} are`;
}

function inFlightOf(run: RunState): number {
  return itemsByPhase(run).inFlight.length;
}

function beginsOnlyWhatFits(moment: Moment, run: RunState): string | null {
  if (!beginsSomething(moment, run)) return null;
  const { rules, spentNanoUsd, mode } = run;
  const inFlight = inFlightOf(run);
  if (inFlight > rules.concurrency) return `${inFlight} items are in flight, and ${rules.concurrency} may be`;
  const full = fullSlot(run);
  if (full !== null) return full;
  if (mode === 'draining' || mode === 'cancelling') return `an item begins, and the run is ${mode}`;
  if (rules.budget?.mode !== 'enforce') return null;
  const { nanoUsd, reserveNanoUsd } = rules.budget;
  const held = spentNanoUsd + inFlight * reserveNanoUsd;
  return held > nanoUsd ? `${held} nano-USD are spent or held, and the budget is ${nanoUsd}` : null;
}

function throughBreaker(moment: Moment, before: RunState, now: number): string | null {
  const after = moment.step.after as RunState;
  return beginsSomething(moment, after) ? beganThroughBreaker(before, after, now) : null;
}

/** Wherever the item lives. */
function beginsSomething(moment: Moment, { items }: RunState): boolean {
  const before = moment.step.before as RunState | null;
  return changedItems(moment).some(
    (index) => (items[index] as RunItem).attempt > (before?.items[index]?.attempt ?? 0),
  );
}

/** More in flight of one value than its keyed limit allows. */
function fullSlot({ items, rules, ...run }: RunState): string | null {
  if (rules.slots === undefined) return null;
  const taken = new Map<string, number>();
  for (const index of itemsByPhase({ items, ...run }).inFlight) {
    for (const { slot, value } of items[index]?.slots ?? []) {
      const count = (taken.get(`${slot} ${value}`) ?? 0) + 1;
      taken.set(`${slot} ${value}`, count);
      const max = rules.slots[slot] ?? Number.POSITIVE_INFINITY;
      if (count > max) return `${count} items of ${slot} "${value}" are in flight, and ${max} may be`;
    }
  }
  return null;
}

/** An item that waits for others begins only when all of them have ended. */
function unmetNeed(item: RunItem, items: readonly RunItem[]): string | null {
  for (const { group, entry } of item.needs ?? []) {
    const open = items.find((other) => other.groups?.includes(group) === true && other.phase !== 'ended');
    if (open !== undefined) return `item "${item.key}" begins before "${open.key}" of "${entry}" has ended`;
  }
  return null;
}

function tooEarly(moment: Moment, before: RunState, now: number): string | null {
  const { items } = moment.step.after as RunState;
  for (const index of changedItems(moment)) {
    const { key, phase, attempt } = items[index] as RunItem;
    const was = before.items[index];
    if (phase !== 'starting' || was?.phase !== 'waiting' || attempt === was.attempt) continue;
    const unmet = unmetNeed(items[index] as RunItem, items);
    if (unmet !== null) return unmet;
    const { startEveryMs } = before.rules;
    const lastStartAt = before.pace?.lastStartAt ?? null;
    if (startEveryMs !== undefined && lastStartAt !== null && now < lastStartAt + startEveryMs)
      return `item "${key}" begins ${lastStartAt + startEveryMs - now} ms before the rate lets it`;
    if (was.notBefore !== null && was.notBefore > now)
      return `item "${key}" begins ${was.notBefore - now} ms before its pause is over`;
  }
  return null;
}

/** A hold without a reason never ends: an operator has to resume the run by hand. */
function heldForNothing(
  before: RunState,
  { mode, reason, rules, breakerHits, spentNanoUsd }: RunState,
  now: number,
): string | null {
  if (mode !== 'paused' || before.mode === 'paused') return null;
  if (reason === 'budget') {
    const { nanoUsd, reserveNanoUsd } = rules.budget ?? { nanoUsd: 0, reserveNanoUsd: 0 };
    return spentNanoUsd + reserveNanoUsd <= nanoUsd
      ? 'it holds for its budget, and one more would fit'
      : null;
  }
  if (reason?.startsWith('breaker:') !== true || rules.breaker === null) return null;
  const { on, windowMs } = rules.breaker;
  const failureClass = reason.slice('breaker:'.length);
  if (!on.some((one) => one === failureClass))
    return `its breaker does not count ${failureClass}, and holds it`;
  return breakerHits.some((at) => at < now - windowMs)
    ? 'its breaker counts a failure that is older than its window'
    : null;
}
