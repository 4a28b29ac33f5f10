/**
 * Which items may begin, and what holds the others back.
 * Owns the order of the checks: mode, needs, places, breaker, pace, slots, budget; must not read a conversation.
 */
import { countWell } from '../../status.ts';
import { earliest } from '../../time.ts';
import { breakerHold } from './breaker.ts';
import { fitsBudget, withinBudget } from './budget.ts';
import { hold } from './hold.ts';
import { changePace, countStart, nextPlaceAt, nextStartAt, paceOf, placesOf } from './pace.ts';
import { ledItem } from '../shards.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import { itemAt, type RunItem, type RunState, type SlotUse, type Ending, type ItemNeed } from '../state.ts';
import { changeItem, itemOrder, type RunContext } from '../run-context.ts';

/** Why the next item does not begin, and when to check again by the clock. */
interface Hold {
  readonly by: string;
  readonly until: number | null;
}

/** Fills free places: highest priority first, then plan order. */
export function admit(context: RunContext): void {
  const { state } = context;
  if (state.phase !== 'running' || state.mode !== 'normal') return;
  state.byPhase ??= itemsByPhase(state);
  if (state.warming !== undefined) return changePace(context, { heldBy: 'pool', heldUntil: null });
  skipUnmet(context);
  // Counted only once an item may begin: mostly all places are taken.
  let counted: Slots | null = null;
  const slots = (): Slots => (counted ??= usedSlots(state));
  for (;;) {
    const next = itemsByPhase(state).waiting.length === 0 ? null : nextOf(context, slots);
    if (typeof next === 'number') {
      take(slots(), state.items[next]);
      begin(context, next);
      continue;
    }
    if (state.mode === 'normal')
      changePace(context, { heldBy: next?.by ?? null, heldUntil: next?.until ?? null });
    return;
  }
}

/** The item that may begin now, or what keeps all of them from it. */
function nextOf(context: RunContext, slots: () => Slots): number | Hold {
  const { state, now } = context;
  const places = placesOf(state, now);
  if (itemsByPhase(state).inFlight.length >= places.max)
    return { by: places.by, until: places.by === 'ramp' ? nextPlaceAt(state) : null };
  const tripped = breakerHold(context);
  if (tripped !== null) return { by: 'breaker', until: tripped.until };
  const startAt = nextStartAt(state);
  if (!canaryLetsGo(context)) return { by: 'canary', until: null };
  const index = nextWaiting(state, now, slots());
  if (typeof index !== 'number') return index;
  if (startAt !== null && startAt > now) return { by: 'rate', until: startAt };
  return withinBudget(context) ? index : { by: 'budget', until: null };
}

/** When none may begin: the reason that holds most waiting items, and when the first pause among them ends. */
function nextWaiting(state: RunState, now: number, slots: Slots): number | Hold {
  let by: string | null = null;
  let until: number | null = null;
  const isCanaryFull = canaryPlaces(state) <= 0;
  for (const index of itemsByPhase(state).waiting) {
    const item = state.items[index] as RunItem;
    const { notBefore } = item;
    const full = fullSlot(state, slots, item);
    if (notBefore !== null && notBefore > now) {
      until = earliest(until, notBefore);
      by ??= item.attempt === 0 ? 'arrival' : 'retry';
    } else if (isCanaryFull && item.attempt === 0) by ??= 'canary';
    else if (!needsMet(item, state)) by ??= 'needs';
    else if (full !== null) by = `per ${full}`;
    else return index;
  }
  return { by: by ?? 'needs', until };
}

/** How many places of each slot are taken, by slot and value. */
type Slots = Map<string, number>;

function usedSlots(state: RunState): Slots {
  const slots: Slots = new Map();
  if (state.rules.slots === undefined) return slots;
  for (const index of itemsByPhase(state).inFlight) take(slots, state.items[index]);
  return slots;
}

function take(slots: Slots, item: RunItem | undefined): void {
  for (const use of item?.slots ?? []) slots.set(slotKey(use), (slots.get(slotKey(use)) ?? 0) + 1);
}

/** The slot of an item that has no free place; null when all have. */
function fullSlot({ rules }: RunState, slots: Slots, item: RunItem): string | null {
  const full = item.slots?.find(
    (use) => (slots.get(slotKey(use)) ?? 0) >= (rules.slots?.[use.slot] ?? Number.POSITIVE_INFINITY),
  );
  return full?.slot ?? null;
}

/** A slot's name has no blank. */
function slotKey({ slot, value }: SlotUse): string {
  return `${slot} ${value}`;
}

/** A new attempt; where the items live in shards, its shard gets a directive after the step. */
export function begin(context: RunContext, index: number): void {
  const before = itemAt(context.state, index);
  changeItem(context, index, {
    ...(before?.next === undefined ? {} : { ...before.next, next: undefined }),
    phase: 'starting',
    attempt: (before?.attempt ?? 0) + 1,
    conversationId: null,
    past: pastOf(before),
    noticed: -1,
    sandboxId: null,
    sandboxStatus: null,
    executionStatus: null,
    waitsFor: undefined,
    ending: null,
    admittedAt: context.now,
    workingSince: null,
    workedMs: 0,
    skippedMs: undefined,
    notBefore: null,
    stopBy: null,
    continued: 0,
    limitReached: null,
  });
  countStart(context);
  const item = ledItem(context.state, index);
  if (item === null) return;
  const { strategy } = context.state.rules;
  const awaiting = context.order({
    ...itemOrder(context, index, item),
    type: 'startConversation',
    ...(strategy === undefined ? {} : { strategy }),
  });
  changeItem(context, index, { awaiting });
}

function pastOf(item: RunItem | undefined): RunItem['past'] {
  if (item === undefined) return [];
  return item.conversationId === null ? item.past : [...item.past, item.conversationId];
}

/** When the run must check the waiting items again, whatever happens; null when only an event can help. */
export function admissionDeadline(state: RunState): number | null {
  if (state.phase !== 'running' || state.mode !== 'normal') return null;
  if (state.pace !== undefined) return state.pace.heldUntil;
  // A state that an older version stored: its retries are checked as they come due.
  const { waiting, inFlight } = itemsByPhase(state);
  if (inFlight.length >= state.rules.concurrency) return null;
  if (state.rules.budget?.mode === 'enforce' && !fitsBudget(state)) return null;
  return waiting.reduce<number | null>(
    (first, index) => earliest(first, state.items[index]?.notBefore ?? null),
    null,
  );
}

/** How many items may still begin for the first time; tries after a failure are always let through. */
function canaryPlaces(state: RunState): number {
  const { canary } = paceOf(state);
  if (canary === null) return Number.POSITIVE_INFINITY;
  return canary - underWay(state) - endedCount(state);
}

/** False when the canary is over and one of it did not succeed: then the run holds, and goes on when it is resumed. */
function canaryLetsGo(context: RunContext): boolean {
  const { state } = context;
  if (paceOf(state).canary === null || canaryPlaces(state) > 0 || underWay(state) > 0) return true;
  changePace(context, { canary: null });
  if (endedCount(state) === countWell(itemsByPhase(state).ended)) return true;
  hold(context, 'canary');
  return false;
}

/** In flight, or waiting for another try. */
function underWay(state: RunState): number {
  const { waiting, inFlight } = itemsByPhase(state);
  const tried = waiting.filter((index) => (state.items[index]?.attempt ?? 0) > 0);
  return inFlight.length + tried.length;
}

function endedCount(state: RunState): number {
  return Object.values(itemsByPhase(state).ended).reduce((sum, count) => sum + count, 0);
}

/** Whether everything that an item waits for has ended. */
function needsMet(item: RunItem, state: RunState): boolean {
  return item.needs === undefined || item.needs.every((need) => openIn(need, state) === 0);
}

/**
 * Ends every waiting item with a need that ended otherwise than it requires. Others may wait for an item that ends so,
 * so it repeats until nothing changes: every pass ends an item or is the last.
 */
function skipUnmet(context: RunContext): void {
  if (itemsByPhase(context.state).groups === undefined) return;
  let changed = true;
  while (changed) {
    changed = false;
    for (const index of itemsByPhase(context.state).waiting) {
      const ending = unmetEnding(context.state.items[index], context.state);
      if (ending === null) continue;
      changeItem(context, index, { phase: 'ended', ending, endedAt: context.now, notBefore: null });
      changed = true;
    }
  }
}

/** How an item ends that has a need which can no longer be met; null when all may be. */
function unmetEnding(item: RunItem | undefined, state: RunState): Ending | null {
  for (const need of item?.needs ?? []) {
    const ending = openIn(need, state) > 0 ? null : endingOfUnmet(need, unsuccessfulIn(need, state));
    if (ending !== null) return ending;
  }
  return null;
}

function endingOfUnmet({ entry, outcome }: ItemNeed, unsuccessful: number): Ending | null {
  switch (outcome) {
    case 'succeeded':
      if (unsuccessful === 0) return null;
      return { outcome: 'skipped', failureClass: null, detail: `it needs "${entry}", which did not succeed` };
    case 'failed':
      if (unsuccessful > 0) return null;
      return {
        outcome: 'not_needed',
        failureClass: null,
        detail: `it is for a failure of "${entry}", which succeeded`,
      };
    case 'ended':
      return null;
  }
}

function openIn({ group }: ItemNeed, state: RunState): number {
  return itemsByPhase(state).groups?.[group]?.open ?? 0;
}

function unsuccessfulIn({ group }: ItemNeed, state: RunState): number {
  return itemsByPhase(state).groups?.[group]?.unsuccessful ?? 0;
}
