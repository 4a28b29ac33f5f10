/**
 * What a shard tells after every turn that changed something: rows of its items, and attempts that have ended.
 * Owns no decision about items.
 */
import { changedPositions } from '../run/amend/changed-positions.ts';
import { itemRows } from '../run/items/rows.ts';
import { indexAt, isInFlight, type RunItem, type RunState } from '../run/state.ts';
import type { RunTurn } from '../run/turn.ts';

export function settleShard(before: RunState, turn: RunTurn): void {
  const { state } = turn;
  state.sequence += 1;
  const changed = changedPositions(before.items, state.items);
  if (changed.length > 0) turn.order({ type: 'project', rows: itemRows(state, changed) });
  for (const position of changed) {
    const [was, is] = [before.items[position], state.items[position]];
    if (was !== undefined && is !== undefined && hasEnded(was, is))
      reportAttempt(turn, indexAt(state, position), is);
  }
}

function hasEnded(was: RunItem, is: RunItem): boolean {
  return isInFlight(was) && !isInFlight(is);
}

function reportAttempt(turn: RunTurn, index: number, item: RunItem): void {
  const { state } = turn;
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
  turn.order({ type: 'send', to: { machine: 'run', id: state.runId }, event });
}
