/**
 * Values of `parley.yaml` that mislead: a secret in clear, a shell variable, which is never filled in.
 * Owns where each is an error and its remedy; a value is never repeated (D20).
 */
import { looksLikeSecret } from '../../dsl/check/secret-in-clear.ts';
import type { Tree, TreePath } from '../../dsl/read/tree.ts';
import { placeOf } from './config-place.ts';
import type { DeploymentFile } from './deployment-file.ts';
import type { Problem } from './problem.ts';
import { ENVIRONMENT_REFERENCE } from './schema/schema-forms.ts';
import { maySecretStandAt } from './schema/secret-places.ts';
import { SETTINGS } from './settings.ts';

/** `$NAME` or `${NAME}`, as a shell fills them in. */
const SHELL_VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/;

export function clearValueProblems(file: DeploymentFile | null): readonly Problem[] {
  return file?.tree === null || file === null ? [] : problemsBelow(file.tree, [], file);
}

function problemsBelow(tree: Tree, at: TreePath, file: DeploymentFile): readonly Problem[] {
  switch (tree.kind) {
    case 'scalar':
      return typeof tree.value === 'string' ? problemsOf(tree.value, at, file) : [];
    case 'list':
      return tree.items.flatMap((item, index) => problemsBelow(item, [...at, index], file));
    case 'map':
      return tree.entries.flatMap(({ key, value }) => problemsBelow(value, [...at, key], file));
    default:
      return tree satisfies never;
  }
}

function problemsOf(value: string, at: TreePath, file: DeploymentFile): readonly Problem[] {
  if (ENVIRONMENT_REFERENCE.test(value)) return [];
  const path = at.join('.');
  const place = { severity: 'error', area: 'deployment', ...placeOf(file, at) } as const;
  const [, braced, bare] = SHELL_VARIABLE.exec(value) ?? [];
  const name = braced ?? bare;
  if (name !== undefined) {
    const message = `"${path}" names the variable ${name} as a shell does, and nothing fills it in here`;
    return [{ ...place, message, remedy: variableRemedy({ path, name, value }) }];
  }
  if (at[0] !== 'proxy_config' || !maySecretStandAt(path) || !looksLikeSecret(bearerless(value))) return [];
  const message = `the value of "${path}" looks like a secret, which does not belong in a file`;
  return [{ ...place, message, remedy: 'write the name of an environment variable: os.environ/NAME' }];
}

/** A header says its scheme first. */
function bearerless(value: string): string {
  return value.replace(/^(?:bearer|basic|token)\s+/i, '');
}

function variableRemedy(found: {
  readonly path: string;
  readonly name: string;
  readonly value: string;
}): string {
  const setting = SETTINGS.find(({ path }) => path === found.path);
  if (setting !== undefined) return `write the value itself, or set ${setting.env}, which wins over this key`;
  const mayRefer =
    found.path.startsWith('proxy_config.') || maySecretStandAt(found.path) || found.path.endsWith('.url');
  const isWhole = new RegExp(`^${SHELL_VARIABLE.source}$`).test(found.value);
  if (!mayRefer) return 'write the value itself';
  return isWhole
    ? `write os.environ/${found.name}`
    : 'let one variable hold all of it, and write os.environ/NAME';
}
