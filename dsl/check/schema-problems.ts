/**
 * Findings of the schema, each at its place in the text and in words.
 * Owns which of them is the root cause; schema-wording.ts words a single value.
 */
import type { z } from 'zod';

import { adviseKey, keysAt, whereIs } from './key-advice.ts';
import type { Language } from '../language.ts';
import { quote } from '../read/quote.ts';
import type { Report } from './report.ts';
import { addValueProblem } from './schema-wording.ts';
import type { Span } from '../read/text-position.ts';
import { entriesOf, entryOf, treeAt, type Tree, type TreeEntry, type TreePath } from '../read/tree.ts';

type Issue = z.core.$ZodIssue;

/** Adds a finding for every issue that is not a consequence of another. */
export function addSchemaProblems(issues: readonly Issue[], root: Tree, report: Report): void {
  const missing = issues.filter((issue) => isMissing(issue, root));
  const unknown = issues.flatMap((issue) => unknownKeys(issue, { root, report }));
  for (const key of unknown) addUnknownKey(key, { missing: missingAt(missing, key.at), report });
  for (const issue of missing) addMissing(issue, { unknown, root, report });
  for (const issue of issues) {
    if (
      issue.code === 'unrecognized_keys' ||
      missing.includes(issue) ||
      isOpen(treeAt(root, issue.path as TreePath)) ||
      isExplained(issue, unknown, { root, report })
    )
      continue;
    addValueProblem(issue, root, report);
  }
}

interface UnknownKey {
  readonly entry: TreeEntry;
  /** The map it stands in. */
  readonly at: TreePath;
  readonly allowed: readonly string[];
  /** Keys without value in the same map. */
  readonly emptySiblings: readonly string[];
}

export function addUnknownKey(
  key: UnknownKey,
  context: { readonly missing: readonly string[]; readonly report: Report },
): void {
  const { entry, at, allowed } = key;
  const { missing, report } = context;
  const { language } = report;
  const refused = language.refusedKey(entry.key, at);
  if (refused !== null)
    return report.add(refused.code, entry.keySpan, refused.message, { remedy: refused.remedy });
  if (at[0] === 'secrets' && /^(?:value|token|password|secret|key|literal)$/i.test(entry.key))
    return addInClear(entry, report);
  const advice = adviseKey({ key: entry.key, at, allowed }, language);
  const [required] = advice.vague ? missing : [];
  const emptyAbove = emptyParent(key, language);
  const remedy =
    required !== undefined ? `the required key ${quote(required)} is missing here` : advice.remedy;
  report.add('JOB201', entry.keySpan, `unknown key ${quote(entry.key)} ${whereIs(at, language)}`, {
    remedy: emptyAbove !== null ? `indent it: it belongs under ${quote(emptyAbove)}` : remedy,
  });
}

function addInClear(entry: TreeEntry, report: Report): void {
  const span: Span = { start: entry.keySpan.start, end: Math.max(entry.value.span.end, entry.keySpan.end) };
  report.add('JOB218', span, 'the value of a secret does not belong in a job file', {
    remedy: 'write where it is found: {from: env, name: …}, {from: file, path: …} or {from: store, name: …}',
  });
}

/** A key of the same map that stands without value although the unknown key is one of its own: wrong indentation. */
function emptyParent({ entry, at, emptySiblings }: UnknownKey, language: Language): string | null {
  return emptySiblings.find((sibling) => keysAt([...at, sibling], language).includes(entry.key)) ?? null;
}

function unknownKeys(issue: Issue, { root, report }: Place): UnknownKey[] {
  if (issue.code !== 'unrecognized_keys') return [];
  const at = issue.path as TreePath;
  const map = treeAt(root, at);
  const empty = entriesOf(map)
    .filter((entry) => isNull(entry.value))
    .map((entry) => entry.key);
  return issue.keys.flatMap((key) => {
    const entry = entryOf(map, key);
    if (entry === undefined) return [];
    return [{ entry, at, allowed: keysAt(at, report.language), emptySiblings: empty }];
  });
}

function isMissing(issue: Issue, root: Tree): boolean {
  if (issue.code === 'unrecognized_keys' || issue.code === 'invalid_key') return false;
  return issue.path.length > 0 && treeAt(root, issue.path as TreePath) === undefined;
}

function missingAt(missing: readonly Issue[], at: TreePath): string[] {
  return missing
    .filter((issue) => samePath(issue.path.slice(0, -1) as TreePath, at))
    .map((issue) => String(issue.path.at(-1)));
}

interface Place {
  readonly root: Tree;
  readonly report: Report;
}

interface MissingContext extends Place {
  readonly unknown: readonly UnknownKey[];
}

function addMissing(issue: Issue, { unknown, root, report }: MissingContext): void {
  const { language } = report;
  const name = String(issue.path.at(-1));
  const at = issue.path.slice(0, -1) as TreePath;
  if (unknown.some(({ entry }) => entry.key === name)) return;
  const beside = unknown.filter((key) => samePath(key.at, at));
  if (
    beside.some(({ entry, allowed }) =>
      explainsMissing(adviseKey({ key: entry.key, at, allowed }, language), name),
    )
  )
    return;
  report.add('JOB202', placeOfMap(root, at), `${quote(name)} is missing ${whereIs(at, language)}`, {
    remedy: language.missingRemedy(name, at),
  });
}

function explainsMissing(advice: ReturnType<typeof adviseKey>, name: string): boolean {
  return advice.vague || advice.meant === name || advice.remedy === `write ${quote(name)}`;
}

/** A map is shown by its key, or by its first key where it is an item of a list. */
function placeOfMap(root: Tree, at: TreePath): Span {
  const name = at.at(-1);
  const parent = treeAt(root, at.slice(0, -1));
  const own = typeof name === 'string' ? entryOf(parent, name)?.keySpan : undefined;
  if (own !== undefined) return own;
  const map = treeAt(root, at);
  return entriesOf(map)[0]?.keySpan ?? { start: map?.span.start ?? 0, end: map?.span.start ?? 0 };
}

/** A key without value whose own keys stand beside it: the unknown keys say it. */
function isExplained(issue: Issue, unknown: readonly UnknownKey[], { root, report }: Place): boolean {
  const path = issue.path as TreePath;
  if (!isNull(treeAt(root, path))) return false;
  const beside = unknown.filter((key) => samePath(key.at, path.slice(0, -1)));
  return beside.some(({ entry }) => keysAt(path, report.language).includes(entry.key));
}

/** Also a map whose shorthand is an input without value. */
function isOpen(tree: Tree | undefined): boolean {
  return tree?.kind === 'scalar' && tree.open === true;
}

function isNull(tree: Tree | undefined): boolean {
  return tree?.kind === 'scalar' && tree.value === null;
}

function samePath(a: TreePath, b: TreePath): boolean {
  return a.length === b.length && a.every((step, at) => step === b[at]);
}
