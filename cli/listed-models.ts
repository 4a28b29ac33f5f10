/**
 * The models that `parley.yaml` lists, for the warning about a model that nobody knows.
 * Owns a glance at the file; must not load the proxy, because `validate` starts with this.
 */
import { textOf, itemsOf, treeAt } from '../dsl/tree.ts';
import { findDeploymentFile, readDeploymentFile } from './config/deployment-file.ts';
import type { Shell } from './shell.ts';

/** Null when it cannot be said: no file, no list, a reference, or the wildcard. */
export function listedModels(shell: Shell, named: string | undefined): readonly string[] | null {
  const found = findDeploymentFile(named ?? (shell.env['PARLEY_CONFIG'] || null), shell.cwd);
  if (found === null) return null;
  const { tree } = readDeploymentFile(found, shell.cwd);
  const entries = itemsOf(treeAt(tree ?? undefined, ['proxy_config', 'model_list']));
  const names = entries.map((entry) => textOf(treeAt(entry, ['model_name'])));
  const isCertain = names.every((name) => name !== null && name !== '*' && !name.startsWith('os.environ/'));
  return names.length > 0 && isCertain ? names.filter((name) => name !== null) : null;
}
