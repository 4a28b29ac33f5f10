/**
 * Which rows of a list are chosen for something that is done to several.
 * Owns the ids, and the box that chooses a row; one that is not on the page any more is not chosen.
 */
import { type ReactElement, useState } from 'react';

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

interface SelectCellProps {
  readonly row: { readonly id: string; readonly name: string };
  readonly selection: Selection;
}

export function SelectCell({ row: { id, name }, selection }: SelectCellProps): ReactElement {
  return (
    <td>
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={selection.has(id)}
        onChange={({ target }) => selection.set([id], target.checked)}
      />
    </td>
  );
}
