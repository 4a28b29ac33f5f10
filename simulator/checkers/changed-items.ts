/**
 * Which items of a run a step has changed: whoever judges each item alone looks at these, and has seen the others.
 * Owns the comparison, by identity: a machine writes on nothing that it has given away.
 */
import type { RunState } from '../../core/run/state.ts';
import type { Moment } from './checker.ts';

/** Indexes, ascending; all of them for a run that was born. */
export function changedItems({ step, changed }: Moment): readonly number[] {
  return changed ?? changedBy(step);
}

/** Of a step of a run. */
export function changedBy({ before, after }: Moment['step']): readonly number[] {
  const { items } = after as RunState;
  const were = (before as RunState | null)?.items ?? [];
  const changed: number[] = [];
  if (items === were) return changed;
  for (let index = 0; index < items.length; index += 1) if (items[index] !== were[index]) changed.push(index);
  return changed;
}
