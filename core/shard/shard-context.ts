/**
 * What a shard tells after every step that changed something: rows of its items, and attempts that have ended.
 * Owns no decision about items.
 */
import { changedPositions } from '../run/amend/changed-positions.ts';
import { itemRows } from '../run/items/rows.ts';
import { indexAt, isInFlight, type RunItem, type RunState } from '../run/state.ts';
import type { RunContext } from '../run/run-context.ts';

export function settleShard(before: RunState, context: RunContext): void {
  const { state } = context;
  state.sequence += 1;
  const changed = changedPositions(before.items, state.items);
  if (changed.length > 0) context.order({ type: 'project', rows: itemRows(state, changed) });
  for (const position of changed) {
    const [was, is] = [before.items[position], state.items[position]];
    if (was !== undefined && is !== undefined && hasEnded(was, is))
      reportAttempt(context, indexAt(state, position), is);
  }
}

function hasEnded(was: RunItem, is: RunItem): boolean {
  return isInFlight(was) && !isInFlight(is);
}

function reportAttempt(context: RunContext, index: number, item: RunItem): void {
  const { state } = context;
  if (item.ending === null) return;
  const { attempt, phase, ending, notBefore, costNanoUsd, conversationId, sandboxId, sandboxStatus } = item;
  const event = {
    type: 'attemptEnded',
    index,
    attempt,
    phase: phase === 'waiting' ? 'waiting' : 'ended',
    ending,
    notBefore,
    costNanoUsd,
    conversationId,
    sandboxId,
    sandboxStatus,
    // A shard remembers of sandboxes only which must be kept because of what could not be collected.
    isUncollected: state.sandboxes.some((kept) => kept.sandboxId === sandboxId),
  } as const;
  context.order({ type: 'send', to: { machine: 'run', id: state.runId }, event });
}
