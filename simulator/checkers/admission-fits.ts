/**
 * R1: a run begins only what fits: places, budget with its reserves, pauses of retries, its mode; and it holds only for a reason.
 * Owns the checks on what a run begins; must not choose who comes next.
 */
import { itemsByPhase } from '../../core/run/items-by-phase.ts';
import { isInFlight, type RunItem, type RunState } from '../../core/run/state.ts';
import { beganThroughBreaker } from './breaker-holds.ts';
import { changedItems } from './changed-items.ts';
import { PUNCTUAL, type Moment } from './checker.ts';

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

/** What a run keeps of who is in flight follows its items: from its first state on that is the same as one look at all of them. */
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

/** Who waits for others begins only when all of them have ended. */
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

/** A hold that nothing explains never ends: somebody has to resume the run by hand. */
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
