/**
 * R2: a run ends with all of its items, a cancelled one begins nothing and leaves nobody at work.
 * Owns the checks on how items and run end together.
 */
import type { RunItem, RunState } from '../../core/run/state.ts';
import { changedItems } from './changed-items.ts';
import type { Moment } from './checker.ts';

export function runsEndWhole(moment: Moment): string | null {
  const before = moment.step.before as RunState | null;
  const { phase, mode, items, closing, awaiting } = moment.step.after as RunState;
  if ((phase === 'closing') !== (closing !== undefined))
    return `it is ${phase}, and its last step ${closing === undefined ? 'has no end' : 'goes on'}`;
  if (closing !== undefined && awaiting === null) return 'it waits for a last step that nobody carries out';
  if (phase === 'finished' && before !== null && before.phase !== 'finished') {
    const taken = before.closing === undefined ? 0 : before.closing.step + 1;
    const wanted = before.rules.finally?.length ?? 0;
    if (taken !== wanted) return `it has finished, and took ${taken} of ${wanted} last steps`;
  }
  // What was right of an item stays right while neither it nor what is asked of all items changes.
  const asksTheSame = before?.phase === phase && before.mode === mode;
  for (const index of asksTheSame ? changedItems(moment) : items.keys()) {
    const item = items[index] as RunItem;
    if (phase !== 'running' && item.phase !== 'ended')
      return `it is ${phase}, and item "${item.key}" is ${item.phase}`;
    const atWork = item.phase === 'starting' || item.phase === 'working';
    if (mode === 'cancelling' && item.phase === 'waiting')
      return `it is cancelled, and item "${item.key}" waits`;
    if (mode === 'cancelling' && atWork && item.ending === null)
      return `it is cancelled, and item "${item.key}" was not told to stop`;
    if (atWork && item.ending !== null && item.stopBy === null)
      return `item "${item.key}" was told to stop, and nothing ends the wait for that`;
  }
  return null;
}
