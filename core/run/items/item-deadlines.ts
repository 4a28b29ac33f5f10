/** When items in flight must be checked. Owns the instants; what becomes of an item then is decided in items.ts. */
import { waitOf } from '../../plan/item-rules.ts';
import { ledInFlight } from '../shards.ts';
import type { RunItem, RunState } from '../state.ts';
import { attemptEndsBy, workingLimitAt } from '../working-time.ts';

/** The next instant at which this item must be checked; null when there is none. */
export function itemDeadline(item: RunItem, rules: RunState['rules']): number | null {
  if (item.phase === 'waiting') return item.notBefore;
  if (item.phase !== 'starting' && item.phase !== 'working') return null;
  if (item.stopBy !== null) return item.stopBy;
  if (item.waitsFor !== undefined) return null;
  const wall = attemptEndsBy(item, waitOf(item.own, rules).deadlineMs);
  const working = workingLimitAt(item);
  if (wall === null || working === null) return wall ?? working;
  return Math.min(wall, working);
}

/** The earliest instant at which an item in flight must be checked; null where shards lead them. */
export function itemsDeadline(state: RunState): number | null {
  let first: number | null = null;
  for (const position of ledInFlight(state)) {
    const item = state.items[position];
    const at = item === undefined ? null : itemDeadline(item, state.rules);
    if (at !== null && (first === null || at < first)) first = at;
  }
  return first;
}
