/**
 * Which items a step has changed.
 * Owns the comparison, by position and by identity: a machine writes on nothing that it has given away.
 */
import type { RunItem } from '../state.ts';

/** Ascending, in the list that is: of a thousand items one has changed. All of them where there were none. */
export function changedPositions(were: readonly RunItem[], items: readonly RunItem[]): readonly number[] {
  const changed: number[] = [];
  if (items === were) return changed;
  for (let position = 0; position < items.length; position += 1)
    if (items[position] !== were[position]) changed.push(position);
  return changed;
}
