/**
 * The walk over the conversations of a file, and `defaults`, as they stand in it.
 * Owns the walk alone; must not check anything.
 */
import { childOf, entriesOf, itemsOf, textOf, type Tree } from '../read/tree.ts';

/** A conversation, or `defaults`, as it stands in the file. */
export interface Fields {
  readonly tree: Tree;
  readonly id: string | null;
  /** Axis names; null for `defaults`, whose axes are those of the conversation that inherits. */
  readonly axes: readonly string[] | null;
}

export function conversationsOf(root: Tree): Fields[] {
  return itemsOf(childOf(root, 'conversations')).map((tree) => ({
    tree,
    id: textOf(childOf(tree, 'id')),
    axes: entriesOf(childOf(tree, 'matrix')).map((entry) => entry.key),
  }));
}

/** Conversations, and `defaults` first when there are any. */
export function allFields(root: Tree): Fields[] {
  const defaults = childOf(root, 'defaults');
  const own: Fields[] = defaults === undefined ? [] : [{ tree: defaults, id: null, axes: null }];
  return [...own, ...conversationsOf(root)];
}

/** The fields that an entry of `extend` sets, entry by entry. */
export function extensionsOf(conversation: Tree): Tree[] {
  return itemsOf(childOf(conversation, 'extend')).flatMap((entry) => childOf(entry, 'set') ?? []);
}
