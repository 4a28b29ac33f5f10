/**
 * How the state of a run, or of a shard, is taken apart for a store.
 * Owns which of its lists are long: items and sandboxes are many, and a step changes few of them.
 */
import type { SplitState, StateParts } from '../machine/machine.ts';
import { allItemsByPhase } from './items-by-phase.ts';
import type { RunState } from './state.ts';

/** Where the items stand follows from them, and is not kept. */
export const RUN_PARTS: StateParts<RunState | null> = { split: splitRun, join: joinRun };

function splitRun(state: RunState | null): SplitState | null {
  if (state === null) return null;
  const { items, sandboxes } = state;
  return { head: { ...state, items: [], sandboxes: [], byPhase: undefined }, lists: { items, sandboxes } };
}

function joinRun({ head, lists }: SplitState): RunState {
  const items = lists['items'] as RunState['items'];
  const sandboxes = lists['sandboxes'] as RunState['sandboxes'];
  return { ...(head as RunState), items, sandboxes, byPhase: allItemsByPhase(items) };
}
