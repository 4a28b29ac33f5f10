/**
 * Every effective value with its origin: the single settings, then what the file says in its open blocks.
 * Owns the masking: what may be a secret is shown by its reference, or not at all (D20).
 */
import path from 'node:path';
import type { Tree } from '../../dsl/read/tree.ts';
import { entryOf, treeAt } from '../../dsl/read/tree.ts';
import type { DeploymentFile } from './deployment-file.ts';
import { ENVIRONMENT_REFERENCE } from './schema/schema-forms.ts';
import type { EffectiveValue, Environment } from './effective-values.ts';
import { SECRET_VARIABLES } from './blocks/engine-block.ts';
import type { LoadedDeployment } from './load-deployment.ts';
import { maySecretStandAt } from './schema/secret-places.ts';
import { STORE_URL_VARIABLE } from './blocks/store-block.ts';

export interface ExplainedValue {
  readonly path: string;
  readonly value: string | number | boolean | null;
  readonly origin: string;
}

const OPEN_BLOCKS = [
  'store.url',
  'store.tls',
  'store.blobs',
  'engine.tls',
  'engine.api_key',
  'code_hosts',
  'gateway',
  'proxy_config',
];
/** Paths to keys, which reveal nothing of them. */
const KEY_FILES = ['engine.tls.key', 'store.tls.key'];
/** Holds a password where it does not stand as a reference. */
const DATABASE_URL = 'store.url';

/** Every setting in the order of the schema, with its value and origin; secrets are masked. */
export function explainDeployment(loaded: LoadedDeployment, env: Environment): readonly ExplainedValue[] {
  const { values, file, shared, config } = loaded;
  const settings = values.map((value) => explainSetting(value, config?.baseDir ?? null));
  const blocks = OPEN_BLOCKS.flatMap((block) => {
    const isShared = entryOf(shared?.tree ?? undefined, block) !== undefined;
    return explainBlock(block, isShared ? shared : file, env);
  });
  return [...settings, ...blocks, ...explainKeys(env)];
}

/** What is given by a variable alone, and is a secret. */
function explainKeys(env: Environment): readonly ExplainedValue[] {
  return [...SECRET_VARIABLES, STORE_URL_VARIABLE].map((name) => {
    const isSet = (env[name] ?? '') !== '';
    return { path: name, value: isSet ? 'set' : 'not set', origin: isSet ? `env ${name}` : 'default' };
  });
}

/** Folders are shown as they are used. */
function explainSetting(
  { path: name, value, origin, source }: EffectiveValue,
  baseDir: string | null,
): ExplainedValue {
  const isFolder = name === 'store.path' || name === 'results.path';
  const shown =
    isFolder && baseDir !== null && source !== 'env' ? path.resolve(baseDir, String(value)) : value;
  return { path: name, value: shown === '' ? 'none' : shown, origin };
}

function explainBlock(
  block: string,
  file: DeploymentFile | null,
  env: Environment,
): readonly ExplainedValue[] {
  const at = block.split('.');
  const parent = treeAt(file?.tree ?? undefined, at.slice(0, -1));
  const entry = file === null ? undefined : entryOf(parent, at.at(-1) ?? '');
  if (file === null || entry === undefined) return [{ path: block, value: 'none', origin: 'default' }];
  return leaves(entry.value, block).map(({ path: name, tree }) => ({
    path: name,
    value: shownValue(name, tree, env),
    origin: `${file.shown}:${file.lines.position(tree.span.start).line}`,
  }));
}

interface Leaf {
  readonly path: string;
  readonly tree: Tree;
}

function leaves(tree: Tree, name: string): readonly Leaf[] {
  switch (tree.kind) {
    case 'scalar':
      return [{ path: name, tree }];
    case 'list':
      return tree.items.flatMap((item, at) => leaves(item, `${name}[${at}]`));
    case 'map':
      // An empty map says something, too: TLS with nothing of its own.
      if (tree.entries.length === 0) return [{ path: name, tree }];
      return tree.entries.flatMap((entry) => leaves(entry.value, `${name}.${entry.key}`));
  }
}

function shownValue(name: string, tree: Tree, env: Environment): ExplainedValue['value'] {
  if (tree.kind !== 'scalar') return '{}';
  const variable = ENVIRONMENT_REFERENCE.exec(String(tree.value))?.[1];
  if (variable !== undefined) return `${String(tree.value)} (${env[variable] ? 'set' : 'not set'})`;
  if (KEY_FILES.includes(name)) return tree.value;
  if (name === DATABASE_URL) return '(hidden)';
  return maySecretStandAt(name) ? '(hidden)' : tree.value;
}
