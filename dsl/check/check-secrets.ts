/**
 * Secrets are declared before they are used, used when they are declared, and exist where that can be asked.
 * Owns names only; a value never comes here, and what looks like one is not quoted (D20).
 */
import { CODE_HOST_KINDS } from '../../core/plan/plan-issue.ts';
import type { SecretReference } from '../../core/plan/plan.ts';
import { didYouMean } from './nearest-name.ts';
import { quote } from '../read/quote.ts';
import { looksLikeSecret } from './secret-in-clear.ts';
import { childOf, entriesOf, itemsOf, textOf, treeAt, type Tree, type TreeEntry } from '../read/tree.ts';
import { allFields, type CheckContext } from './check-context.ts';

export function checkSecrets(context: CheckContext): void {
  const declared = entriesOf(childOf(context.root, 'secrets'));
  const names = declared.map((entry) => entry.key);
  const used = new Set<string>();
  for (const use of usesOf(context.root)) {
    const name = textOf(use);
    if (name === null) continue;
    used.add(name);
    if (!names.includes(name)) addUnknown(context, { use, name, names });
  }
  for (const entry of declared) {
    if (!used.has(entry.key)) addUnused(context, entry);
    checkExists(context, entry);
  }
}

/** Every place that names a secret of the job. */
function usesOf(root: Tree): Tree[] {
  const ofFields = allFields(root).flatMap(({ tree }) => {
    const named = [['repo'], ...CODE_HOST_KINDS.map((kind) => ['items', kind])];
    const tokens = named.flatMap((path) => treeAt(tree, [...path, 'token', 'secret']) ?? []);
    return [...entriesOf(childOf(tree, 'secrets')).map((entry) => entry.value), ...tokens];
  });
  const ofPulls = treeAt(root, ['deliver', 'pull_request', 'token', 'secret']);
  return [
    ...ofFields,
    ...(ofPulls === undefined ? [] : [ofPulls]),
    ...itemsOf(childOf(root, 'finally')).flatMap(usesOfLastStep),
  ];
}

/** What a message about the end of the run is sent to, and signed with. */
function usesOfLastStep(step: Tree): Tree[] {
  const uses = [treeAt(step, ['notify', 'to', 'secret']), treeAt(step, ['notify', 'key'])];
  return uses.filter((use) => use !== undefined);
}

function addUnknown(
  { report }: CheckContext,
  { use, name, names }: { readonly use: Tree; readonly name: string; readonly names: readonly string[] },
): void {
  if (looksLikeSecret(name)) {
    report.add('JOB218', use.span, 'the value of a secret does not belong in a job file', {
      remedy: 'declare it under "secrets" and write its name here',
    });
    return;
  }
  const remedy = didYouMean(name, names, `declare it under "secrets": {${name}: {from: env, name: …}}`);
  report.add('JOB302', use.span, `this job declares no secret ${quote(name)}`, { remedy });
}

function addUnused({ report }: CheckContext, entry: TreeEntry): void {
  if (looksLikeSecret(entry.key)) return;
  report.add('JOB502', entry.keySpan, `the secret ${quote(entry.key)} is never used`, {
    remedy: 'name it under "secrets" or "repo.token" of a conversation, or remove it',
  });
}

function checkExists({ report, world }: CheckContext, entry: TreeEntry): void {
  const reference = referenceOf(entry.value);
  if (reference === null || world.secretExists === undefined || world.secretExists(reference)) return;
  report.add(
    'JOB313',
    entry.keySpan,
    `the secret ${quote(entry.key)} is not where the job says: ${placeOf(reference)}`,
  );
}

function referenceOf(tree: Tree): SecretReference | null {
  const from = textOf(childOf(tree, 'from'));
  const name = textOf(childOf(tree, 'name'));
  const path = textOf(childOf(tree, 'path'));
  if ((from === 'env' || from === 'store') && name !== null) return { from, name };
  return from === 'file' && path !== null ? { from, path } : null;
}

function placeOf(reference: SecretReference): string {
  switch (reference.from) {
    case 'env':
      return `the environment variable ${reference.name} is not set`;
    case 'file':
      return `the file ${quote(reference.path)} cannot be read`;
    case 'store':
      return `the store has no ${quote(reference.name)}`;
  }
}
