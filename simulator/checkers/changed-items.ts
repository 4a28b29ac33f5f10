/**
 * Which items of a run a step has changed: whoever judges each item alone looks at these, and has seen the others.
 * Owns what is said of a step; the comparison is in core/run/amend/changed-positions.ts.
 */
import { changedPositions } from '../../core/run/amend/changed-positions.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Moment } from './checker.ts';

/** Indexes, ascending; all of them for a run that begins. */
export function changedItems({ step, changed }: Moment): readonly number[] {
  return changed ?? changedBy(step);
}

/** Of a step of a run. */
export function changedBy({ before, after }: Moment['step']): readonly number[] {
  return changedPositions((before as RunState | null)?.items ?? [], (after as RunState).items);
}
