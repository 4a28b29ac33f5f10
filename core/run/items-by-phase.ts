/**
 * Where the items of a run stand: which wait and in which order, which are in flight, how many have ended how.
 * Owns this summary and how a changed item changes it, so that no step has to visit all items; must not decide which
 * begin or end.
 */
import { endedWell, OUTCOMES, type Outcome } from '../status.ts';
import { isInFlight, type GroupCounts, type RunItem, type RunState, type ItemsByPhase } from './state.ts';

type Items = RunState['items'];

/** Kept with the state; worked out anew where it is not: before the first change, and in what older versions stored. */
export function itemsByPhase({ byPhase, items }: Pick<RunState, 'byPhase' | 'items'>): ItemsByPhase {
  return byPhase ?? allItemsByPhase(items);
}

/** One pass over all items. */
export function allItemsByPhase(items: Items): ItemsByPhase {
  const indexes = [...items.keys()];
  const phaseOf = (index: number) => itemAt(items, index).phase;
  const ended: Partial<Record<Outcome, number>> = {};
  for (const outcome of OUTCOMES) {
    const count = items.filter((item) => outcomeOf(item) === outcome).length;
    if (count > 0) ended[outcome] = count;
  }
  return {
    waiting: indexes
      .filter((index) => phaseOf(index) === 'waiting')
      .sort((a, b) => admissionOrder(items, a, b)),
    inFlight: indexes.filter((index) => isInFlight(itemAt(items, index))),
    ended,
    groups: groupsOfAll(items),
  };
}

export function haveAllEndedWell(items: Items): boolean {
  return items.every((item) => endedWell(outcomeOf(item)));
}

/** No workflow leads such a run any more, nor its shards: no request resumes it. */
export function hasEndedForGood({ phase, items }: Pick<RunState, 'phase' | 'items'>): boolean {
  return phase === 'finished' && haveAllEndedWell(items);
}

/** The same after one item has become another; `items` has it already. */
export function itemsByPhaseAfter(
  before: ItemsByPhase,
  items: Items,
  index: number,
  was: RunItem,
): ItemsByPhase {
  const is = itemAt(items, index);
  if (is.phase === was.phase && outcomeOf(is) === outcomeOf(was)) return before;
  let { waiting, inFlight, ended } = before;
  if (was.phase === 'waiting') waiting = without(waiting, index);
  if (is.phase === 'waiting') waiting = insert(waiting, index, (a, b) => admissionOrder(items, a, b));
  if (isInFlight(was) && !isInFlight(is)) inFlight = without(inFlight, index);
  if (isInFlight(is) && !isInFlight(was)) inFlight = insert(inFlight, index, (a, b) => a - b);
  ended = counted(counted(ended, outcomeOf(was), -1), outcomeOf(is), 1);
  return { waiting, inFlight, ended, groups: groupsAfter(before.groups, was, is) };
}

function groupsOfAll(items: Items): ItemsByPhase['groups'] {
  const groups: GroupCounts[] = [];
  for (const item of items) {
    for (const group of item.groups ?? []) {
      // Groups are numbered as their members were found: a later one may come first.
      while (groups.length <= group) groups.push({ open: 0, unsuccessful: 0 });
      groups[group] = plus(groups[group] as GroupCounts, countIn(item), 1);
    }
  }
  return groups.length === 0 ? undefined : groups;
}

function groupsAfter(groups: ItemsByPhase['groups'], was: RunItem, is: RunItem): ItemsByPhase['groups'] {
  if (groups === undefined || is.groups === undefined) return groups;
  const changed = [...groups];
  for (const group of is.groups) {
    const kept = plus(changed[group] as GroupCounts, countIn(was), -1);
    changed[group] = plus(kept, countIn(is), 1);
  }
  return changed;
}

function countIn(item: RunItem): GroupCounts {
  const outcome = outcomeOf(item);
  return {
    open: outcome === null ? 1 : 0,
    unsuccessful: outcome === null || endedWell(outcome) ? 0 : 1,
  };
}

function plus(one: GroupCounts, other: GroupCounts, sign: 1 | -1): GroupCounts {
  return {
    open: one.open + sign * other.open,
    unsuccessful: one.unsuccessful + sign * other.unsuccessful,
  };
}

/** Highest priority first, then plan order. */
function admissionOrder(items: Items, a: number, b: number): number {
  return itemAt(items, b).priority - itemAt(items, a).priority || a - b;
}

function outcomeOf({ phase, ending }: RunItem): Outcome | null {
  return phase === 'ended' ? (ending?.outcome ?? null) : null;
}

function itemAt(items: Items, index: number): RunItem {
  return items[index] as RunItem;
}

function without(indexes: readonly number[], index: number): readonly number[] {
  return indexes.toSpliced(indexes.indexOf(index), 1);
}

function insert(
  indexes: readonly number[],
  index: number,
  order: (a: number, b: number) => number,
): readonly number[] {
  const at = indexes.findIndex((other) => order(index, other) < 0);
  return indexes.toSpliced(at < 0 ? indexes.length : at, 0, index);
}

/** Outcomes without an item are left out; the others keep one order. */
function counted(
  ended: ItemsByPhase['ended'],
  outcome: Outcome | null,
  change: number,
): ItemsByPhase['ended'] {
  if (outcome === null) return ended;
  const counts: Partial<Record<Outcome, number>> = {};
  for (const one of OUTCOMES) {
    const count = (ended[one] ?? 0) + (one === outcome ? change : 0);
    if (count > 0) counts[one] = count;
  }
  return counts;
}
