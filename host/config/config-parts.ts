/**
 * What the readers of single blocks are given, and how they open a reference to the environment.
 * Owns the reference rule; must not know a block.
 */
import type { TreePath } from '../../dsl/read/tree.ts';
import { placeOf } from './config-place.ts';
import type { DeploymentFile } from './deployment-file.ts';
import type { DeploymentDocument } from './schema/deployment-schema.ts';
import { ENVIRONMENT_REFERENCE } from './schema/schema-forms.ts';
import type { Environment } from './effective-values.ts';
import type { Problem } from './problem.ts';

export interface ConfigParts {
  readonly document: DeploymentDocument;
  readonly file: DeploymentFile | null;
  readonly env: Environment;
  /** What relative paths in the file are relative to. */
  readonly baseDir: string;
}

/** The text itself, or the value of the variable it names; null when that is not set. */
export function openReference(text: string, env: Environment): string | null {
  const name = ENVIRONMENT_REFERENCE.exec(text)?.[1];
  return name === undefined ? text : env[name] || null;
}

export function errorAt(
  parts: ConfigParts,
  at: TreePath,
  wording: { readonly message: string; readonly remedy: string | null },
): Problem {
  const place = parts.file === null ? { file: '', line: null, column: null } : placeOf(parts.file, at);
  return { severity: 'error', area: 'deployment', ...place, ...wording };
}
