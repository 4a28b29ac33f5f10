/**
 * From a path of keys to a place in the file.
 * Owns the search for the nearest thing that stands there; must not word a problem.
 */
import { entryOf, treeAt, type Tree, type TreePath } from '../../dsl/read/tree.ts';
import type { DeploymentFile } from './deployment-file.ts';

export interface Place {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** The place of the value at `at`, or of the key `key` in the map there; the nearest parent when it is absent. */
export function placeOf(file: DeploymentFile, at: TreePath, key?: string): Place {
  const offset = offsetOf(file.tree ?? undefined, at, key);
  if (offset === null) return { file: file.shown, line: null, column: null };
  return { file: file.shown, ...file.lines.position(offset) };
}

function offsetOf(tree: Tree | undefined, at: TreePath, key?: string): number | null {
  if (key !== undefined) {
    const entry = entryOf(treeAt(tree, at), key);
    if (entry !== undefined) return entry.keySpan.start;
  }
  for (let length = at.length; length > 0; length--) {
    const last = at[length - 1];
    const parent = treeAt(tree, at.slice(0, length - 1));
    const entry = typeof last === 'string' ? entryOf(parent, last) : undefined;
    if (entry !== undefined && length < at.length) return entry.keySpan.start;
    const value = treeAt(tree, at.slice(0, length));
    if (value !== undefined) return value.span.start;
  }
  return tree?.span.start ?? null;
}

/** `proxy_config.model_list[0].model_name` as steps. */
export function pathSteps(text: string): TreePath {
  return [...text.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map((match) =>
    match[2] === undefined ? (match[1] ?? '') : Number(match[2]),
  );
}
