/**
 * After every turn of a run that changed something: it counts, projects, and tells its shards.
 * Owns what is said of a turn; must not decide anything.
 */
import { changedPositions } from './changed-positions.ts';
import { itemRows, runRow } from './rows.ts';
import { isSharded } from './shards.ts';
import type { RunState } from './state.ts';
import type { RunTurn } from './turn.ts';
import { tellShards } from './wishes.ts';

export function settleRun(before: RunState, turn: RunTurn): void {
  const { state } = turn;
  state.sequence += 1;
  const isBirth = before.sequence === 0;
  const changed = changedPositions(isBirth ? [] : before.items, state.items);
  // A shard writes the rows of its items itself, from the first change on.
  const told = isBirth || !isSharded(state) ? changed : [];
  turn.order({ type: 'project', rows: [runRow(state), ...itemRows(state, told)] });
  if (isSharded(state)) tellShards(before, turn, isBirth ? [] : changed);
}
