/**
 * A version of the configuration that processes over one database share, read as a file is.
 * Owns which keys it may hold, which are those a running process follows, and that no secret stands in it (D20).
 */
import { looksLikeSecret, TOKEN_START } from '../../dsl/check/secret-in-clear.ts';
import type { Tree, TreePath } from '../../dsl/read/tree.ts';
import type { ConfigurationVersion } from '../../ports/shared-configuration.ts';
import { placeOf } from './config-place.ts';
import { readDeploymentText, type DeploymentFile } from './deployment-file.ts';
import type { Problem } from './problem.ts';
import { ENVIRONMENT_REFERENCE } from './schema/schema-forms.ts';
import { maySecretStandAt } from './schema/secret-places.ts';

/** Read anew at every use, through the one object that the world holds. */
const FOLLOWED: readonly RegExp[] = [
  /^limits\./,
  /^capacity\./,
  /^warm_pool\./,
  /^user\./,
  /^agent\.iterations_max$/,
  /^proxy_config$/,
];

/** Whether a running process takes another value of this key, or block, up without a restart. */
export function isFollowed(key: string): boolean {
  return FOLLOWED.some((pattern) => pattern.test(key));
}

export function readSharedText({ version, text }: ConfigurationVersion): DeploymentFile {
  const file = readDeploymentText(text, `version ${version} of the configuration`);
  const problems = file.tree === null ? [] : problemsBelow(file.tree, [], file);
  return { ...file, problems: [...file.problems, ...problems, ...clearWords(file)] };
}

function problemsBelow(tree: Tree, at: TreePath, file: DeploymentFile): readonly Problem[] {
  const isShared = at[0] === 'proxy_config' || isFollowed(at.join('.'));
  switch (tree.kind) {
    case 'scalar':
      if (at.length === 0) return [];
      if (!isShared) return [problemAt(file, at, ofTheFile(at))];
      return typeof tree.value === 'string' && isInClear(tree.value, at)
        ? [problemAt(file, at, inClear(`the value of "${at.join('.')}"`))]
        : [];
    case 'list':
      if (!isShared) return [problemAt(file, at, ofTheFile(at))];
      return tree.items.flatMap((item, index) => problemsBelow(item, [...at, index], file));
    case 'map':
      return tree.entries.flatMap(({ key, value }) => problemsBelow(value, [...at, key], file));
    default:
      return tree satisfies never;
  }
}

/** A database is read by more people than a file: where a secret may stand, only its name does. */
function isInClear(value: string, at: TreePath): boolean {
  if (ENVIRONMENT_REFERENCE.test(value)) return false;
  const key = String(at.findLast((step) => typeof step === 'string') ?? '');
  return maySecretStandAt(key) || (maySecretStandAt(at.join('.')) && looksLikeSecret(value));
}

/** A token, or the password of an address. */
const CLEAR_WORD = new RegExp(
  String.raw`(?<![\w-])${TOKEN_START}[\w.-]{8,}|(?<=:)\/\/[^/\s:@]*:[^/\s@]+@`,
  'g',
);

/** Also in a comment, which no other check reads. */
function clearWords({ text, shown, lines }: DeploymentFile): readonly Problem[] {
  return [...text.matchAll(CLEAR_WORD)].map(({ index }): Problem => {
    const place = { file: shown, ...lines.position(index) };
    return { severity: 'error', area: 'deployment', ...place, ...inClear('what stands here') };
  });
}

type Wording = Pick<Problem, 'message' | 'remedy'>;

function problemAt(file: DeploymentFile, at: TreePath, wording: Wording): Problem {
  return { severity: 'error', area: 'deployment', ...placeOf(file, at), ...wording };
}

function inClear(what: string): Wording {
  const message = `${what} looks like a secret, which does not belong in a database`;
  return { message, remedy: 'write the name of an environment variable: os.environ/NAME' };
}

function ofTheFile(at: TreePath): Wording {
  const message = `"${at.join('.')}" is no key that running processes follow`;
  return { message, remedy: 'write it in the file of each process' };
}
