/**
 * What a check of references is given: the file in long form, even where other parts of it are broken.
 * Owns the type and the walk over conversations; must not check anything.
 */
import type { Report } from '../report.ts';
import { childOf, entriesOf, itemsOf, textOf, type Tree } from '../tree.ts';
import type { JobWorld } from '../world.ts';

export interface CheckContext {
  readonly root: Tree;
  readonly report: Report;
  readonly world: JobWorld;
}

/** A conversation, or `defaults`, as it stands in the file. */
export interface Fields {
  readonly tree: Tree;
  readonly id: string | null;
  /** Axis names; null for `defaults`, whose axes are those of whoever inherits. */
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
