/**
 * Issues of the schema as problems with a place and a remedy.
 * Owns their wording; must not read a file.
 */
import type { z } from 'zod';
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { oneOf, quote } from '../../dsl/read/quote.ts';
import { entryOf, treeAt, type Tree, type TreePath } from '../../dsl/read/tree.ts';
import { placeOf } from './config-place.ts';
import type { DeploymentFile } from './deployment-file.ts';
import { allKeyPaths, keysAt } from './schema/key-paths.ts';
import type { Problem } from './problem.ts';

type Issue = z.core.$ZodIssue;

interface Wording {
  readonly message: string;
  readonly remedy: string | null;
}

export function schemaProblems(issues: readonly Issue[], file: DeploymentFile): Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownKey(key, issue.path as TreePath, file));
    }
    const at = issue.path as TreePath;
    return [problemAt(at, wordIssue(issue, treeAt(file.tree ?? undefined, at)), file)];
  });
}

function problemAt(at: TreePath, wording: Wording, file: DeploymentFile, key?: string): Problem {
  return { severity: 'error', area: 'deployment', ...placeOf(file, at, key), ...wording };
}

function unknownKey(key: string, at: TreePath, file: DeploymentFile): Problem {
  const where = at.length === 0 ? 'at the top level' : `under ${quote(at.join('.'))}`;
  const message = `unknown key ${quote(key)} ${where}`;
  return problemAt(at, { message, remedy: adviseKey(key, at) }, file, key);
}

function adviseKey(key: string, at: TreePath): string {
  if (/session/i.test(key)) return 'a session ends after 12 hours; no setting changes that (D10)';
  const near = nearestName(key, keysAt(at));
  if (near !== null) return `did you mean ${quote(near)}?`;
  const elsewhere = allKeyPaths().find((path) => path.split('.').at(-1) === key);
  if (elsewhere !== undefined) return `write it as ${quote(elsewhere)}`;
  return `allowed here: ${keysAt(at).join(', ')}`;
}

/** What is wrong with one value, in words; shared with values that come from the environment. */
export function wordIssue(issue: Issue, tree: Tree | undefined): Wording {
  const name = quote(issue.path.join('.'));
  switch (issue.code) {
    case 'invalid_type':
      return wordType(issue.expected, name, tree);
    case 'invalid_value': {
      const words = issue.values.map(String);
      const near = tree?.kind === 'scalar' ? nearestName(tree.source, words) : null;
      const remedy = near === null ? `write ${oneOf(words)}` : `did you mean ${quote(near)}?`;
      return { message: `${name} cannot be ${describe(tree)}`, remedy };
    }
    case 'too_small':
      return { message: `${name} must be at least ${issue.minimum}`, remedy: null };
    case 'too_big':
      return { message: `${name} must be at most ${issue.maximum}`, remedy: null };
    case 'invalid_key':
      return { message: `${name} is no name of a code host`, remedy: 'use lower-case letters, digits and _' };
    case 'invalid_format':
      return wordFormat(issue.path.at(-1), name);
    default:
      return { message: `${name} is not valid`, remedy: null };
  }
}

/** What stands there may be a secret, so it is not repeated. */
function wordFormat(key: PropertyKey | undefined, name: string): Wording {
  // From a variable, the key is the whole path.
  const last = String(key).split('.').at(-1);
  if (last === 'token' || last === 'key' || last === 'api_key') {
    const remedy = 'write the name of an environment variable: os.environ/NAME';
    return { message: `the value of ${name} does not belong in a file (D20)`, remedy };
  }
  return { message: `${name} has the wrong form`, remedy: FORMS[last ?? ''] ?? FORM_DEFAULT };
}

const FORM_DEFAULT = 'use lower-case letters and digits';

const FORMS: Readonly<Record<string, string>> = {
  image: 'name it by its digest, as NAME@sha256:DIGITS: a tag may become another image at any time',
  service: 'write the name of a host, or its address',
  listen: 'write the name of a host, or its address',
  address: 'write HOST:PORT, such as 127.0.0.1:7233',
  metrics: 'write a port, or an address and a port such as 127.0.0.1:9464',
  deployment: 'use letters, digits, "-" and "_"',
  build_id: 'use letters, digits, ".", "_" and "-"',
  otlp_endpoint: 'write it as http://HOST:4318',
  task_queue: 'use letters, digits, ".", "_" and "-"',
};

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys',
  record: 'a map of names',
};

function wordType(expected: string, name: string, tree: Tree | undefined): Wording {
  if (tree === undefined) return { message: `${name} is missing`, remedy: null };
  const wanted = TYPE_WORDS[expected] ?? expected;
  if (tree.kind === 'scalar' && tree.value === null) {
    return { message: `${name} has no value`, remedy: 'write a value, or remove the key' };
  }
  const remedy = expected === 'string' && tree.kind === 'scalar' ? 'write it in quotes' : null;
  return { message: `${name} must be ${wanted}, not ${describe(tree)}`, remedy };
}

function describe(tree: Tree | undefined): string {
  if (tree === undefined) return 'that value';
  return tree.kind === 'scalar' ? quote(tree.source) : `a ${tree.kind}`;
}

/** True when the tree is a map that holds the key. */
export function hasKey(tree: Tree | null, at: TreePath): boolean {
  const parent = treeAt(tree ?? undefined, at.slice(0, -1));
  return entryOf(parent, String(at.at(-1))) !== undefined;
}
