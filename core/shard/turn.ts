/**
 * What a shard tells after every turn that changed something: rows of its items, and attempts that have ended.
 * Owns no decision about items.
 */
import { isInFlight, itemAt, type RunItem, type RunState } from '../run/state.ts';
import { changedItems, itemRow } from '../run/rows.ts';
import type { RunTurn } from '../run/turn.ts';

export function settleShard(before: RunState, turn: RunTurn): void {
  const { state } = turn;
  state.sequence += 1;
  const changed = changedItems(before, state);
  if (changed.length > 0) turn.order({ type: 'project', rows: changed.map((item) => itemRow(state, item)) });
  for (const [position, item] of state.items.entries()) {
    const was = before.items[position];
    if (was !== item && was !== undefined && hasEnded(was, item)) reportAttempt(turn, position);
  }
}

function hasEnded(was: RunItem, is: RunItem): boolean {
  return isInFlight(was) && !isInFlight(is);
}

function reportAttempt(turn: RunTurn, position: number): void {
  const { state } = turn;
  const index = position + (state.slice?.from ?? 0);
  const item = itemAt(state, index);
  if (item === undefined || item.ending === null) return;
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
  turn.order({ type: 'tell', to: { machine: 'run', id: state.runId }, event });
}
