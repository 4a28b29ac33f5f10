/**
 * Which rows of a list are chosen for something that is done to several.
 * Owns the ids, and the box that chooses a row; one that is not on the page any more is not chosen.
 */
import { type ReactElement, useState } from 'react';
import type { Column } from '../components/table.tsx';

export interface Selection {
  has(id: string): boolean;
  set(ids: readonly string[], isChosen: boolean): void;
}

export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return {
    has: (id) => ids.has(id),
    set: (changed, isChosen) =>
      setIds((before) => {
        const next = new Set(before);
        for (const id of changed)
          if (isChosen) next.add(id);
          else next.delete(id);
        return next;
      }),
  };
}

/** The column of boxes; the name of a row is for screen readers. */
export function selected<Row extends { readonly id: string }>(
  selection: Selection,
  nameOf: (row: Row) => string,
): Column<Row> {
  const cell = (row: Row): ReactElement => (
    <input
      type="checkbox"
      aria-label={`Select ${nameOf(row)}`}
      checked={selection.has(row.id)}
      onChange={({ target }) => selection.set([row.id], target.checked)}
    />
  );
  return { name: 'Selected', isHidden: true, cell };
}
