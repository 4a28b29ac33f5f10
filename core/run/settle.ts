/**
 * After every turn of a run that changed something: it counts, projects, and tells its shards.
 * Owns what is said of a turn; must not decide anything.
 */
import type { RunItemRow } from '../projection.ts';
import { changedPositions } from './changed-positions.ts';
import { itemRows, runRow } from './rows.ts';
import { isSharded, SEQUENCE_AT_BIRTH } from './shards.ts';
import type { RunState } from './state.ts';
import type { RunTurn } from './turn.ts';
import { tellShards } from './wishes.ts';

export function settleRun(before: RunState, turn: RunTurn): void {
  const { state } = turn;
  state.sequence += 1;
  const isBirth = before.sequence === 0;
  const changed = changedPositions(isBirth ? [] : before.items, state.items);
  turn.order({ type: 'project', rows: [runRow(state), ...rowsOfChanged(before, state, changed)] });
  if (isSharded(state)) tellShards(before, turn, isBirth ? [] : changed);
}

/** A shard writes the rows of its items itself, from the first change on; the run writes what is older than that. */
function rowsOfChanged(before: RunState, state: RunState, changed: readonly number[]): readonly RunItemRow[] {
  if (!isSharded(state)) return itemRows(state, changed);
  const isBirth = before.sequence === 0;
  const born = isBirth ? changed : changed.filter((position) => position >= before.items.length);
  return itemRows({ ...state, sequence: SEQUENCE_AT_BIRTH }, born);
}
