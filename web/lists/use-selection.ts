/**
 * Which rows of a list are chosen for something that is done to several.
 * Owns the ids; one that is not on the page any more is not chosen.
 */
import { useState } from 'react';

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
