/**
 * What a commit must write of a state that is kept in parts: what differs by identity from what the store has.
 * Owns the comparison; must not know a machine, nor what an element is.
 */
import type { SplitState } from '../core/machine/machine.ts';
import type { Json, ListWrite, PartsWrite } from '../ports/engine-store.ts';

type Lists = SplitState['lists'];

/** The lists that the store has, element by element; null: it has none, or what it has is unknown. */
export type KeptLists = Lists | null;

/** Against nothing, or other lists than before, all of it. */
export function partsWrite(kept: KeptLists, lists: Lists): PartsWrite {
  const known = kept !== null && haveSameNames(kept, lists) ? kept : null;
  const writes = Object.entries(lists).map(([name, list]) => [name, listWrite(known?.[name] ?? [], list)]);
  return { anew: known === null, lists: Object.fromEntries(writes) as PartsWrite['lists'] };
}

function haveSameNames(kept: Lists, lists: Lists): boolean {
  const names = Object.keys(lists);
  return names.length === Object.keys(kept).length && names.every((name) => Object.hasOwn(kept, name));
}

/** Visits every element when the list is another one: a comparison of two references each. */
function listWrite(kept: readonly unknown[], list: readonly unknown[]): ListWrite {
  const { length } = list;
  const changed: { position: number; state: Json }[] = [];
  for (let position = 0; list !== kept && position < length; position += 1) {
    if (position < kept.length && list[position] === kept[position]) continue;
    changed.push({ position, state: list[position] as Json });
  }
  return { length, shrinks: length < kept.length, changed };
}
