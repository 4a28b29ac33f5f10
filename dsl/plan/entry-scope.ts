/**
 * What the expressions of one conversation, or of `defaults`, can see.
 * Owns which names are known where; plan-scope.ts owns how they are typed.
 */
import { allFields } from './entries.ts';
import type { ResolvedInputs } from '../inputs/resolve-inputs.ts';
import { createInterpolator, type Interpolator } from './interpolate.ts';
import { once } from './once.ts';
import type { PlanNames } from './plan-scope.ts';
import type { DataFile } from '../rows/data-file.ts';
import type { DataFiles } from '../rows/open-data-files.ts';
import type { Tree } from '../read/tree.ts';

export interface EntryScope {
  readonly names: PlanNames;
  readonly data: DataFile | null;
  /** Of texts, and of the conditions of `exclude` and `extend`. */
  texts(): Interpolator;
  /** Of `key`, where the id is known. */
  keys(): Interpolator;
  /** Of `items.where`: a row is chosen before there are combinations. */
  rows(): Interpolator;
}

/** By the tree of the conversation, or of `defaults`. */
export type EntryScopes = ReadonlyMap<Tree, EntryScope>;

export function entryScopes(root: Tree, inputs: ResolvedInputs, files: DataFiles): EntryScopes {
  const scopes = new Map<Tree, EntryScope>();
  for (const { tree, axes } of allFields(root)) {
    const data = files.get(tree) ?? null;
    const names: PlanNames = {
      inputs: inputs.types ?? {},
      axes,
      columns: data === null && axes !== null ? {} : (data?.columns ?? null),
      rowsFile: data?.spoken ?? null,
      withId: false,
    };
    scopes.set(tree, {
      names,
      data,
      texts: once(() => createInterpolator(names)),
      keys: once(() => createInterpolator({ ...names, withId: true })),
      rows: once(() => createInterpolator({ ...names, axes: [] })),
    });
  }
  return scopes;
}
