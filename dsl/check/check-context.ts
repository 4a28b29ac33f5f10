/**
 * What a check of references is given: the file in long form, even where other parts of it are broken.
 * Owns the type; must not check anything.
 */
import type { EntryScopes } from '../plan/entry-scope.ts';
import type { ResolvedInputs } from '../inputs/resolve-inputs.ts';
import type { Report } from './report.ts';
import type { Tree } from '../read/tree.ts';
import type { JobWorld } from '../world.ts';

export interface CheckContext {
  readonly root: Tree;
  readonly report: Report;
  readonly world: JobWorld;
  readonly inputs: ResolvedInputs;
  readonly scopes: EntryScopes;
}

export { allFields, conversationsOf, extensionsOf, type Fields } from '../plan/entries.ts';
