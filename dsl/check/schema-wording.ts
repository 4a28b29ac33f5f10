/**
 * One value that does not fit the schema, in words.
 * Owns the messages; schema-problems.ts decides which issues are worth one.
 */
import type { z } from 'zod';

import { keysAt } from './key-advice.ts';
import { didYouMean } from './nearest-name.ts';
import { oneOf, quote } from '../read/quote.ts';
import type { Report } from './report.ts';
import { INTERPOLATION_MARK, type TextRule } from '../schema/text-rule.ts';
import { looksLikeSecret } from './secret-in-clear.ts';
import type { Span } from '../read/text-position.ts';
import { entryOf, textOf, treeAt, type Tree, type TreePath } from '../read/tree.ts';

type Issue = z.core.$ZodIssue;

interface Place {
  readonly path: TreePath;
  readonly tree: Tree;
  /** The key, or the list for an item of a list, as words at the start of a sentence. */
  readonly subject: string;
  readonly report: Report;
}

export function addValueProblem(issue: Issue, root: Tree, report: Report): void {
  const path = issue.path as TreePath;
  const tree = treeAt(root, path);
  if (tree === undefined) return;
  if (issue.code === 'invalid_key') return addBadKey(issue, root, report);
  const place: Place = { path, tree, subject: subjectOf(path), report };
  if (isSecretValue(place)) return addInClear(place);
  if (tree.kind === 'scalar' && tree.value === null) return addNoValue(issue, place);
  addTyped(issue, place);
}

function addTyped(issue: Issue, place: Place): void {
  switch (issue.code) {
    case 'invalid_type':
      return addWrongType(issue.expected, place);
    case 'invalid_value':
      return addBadWord(issue.values.map(String), place);
    case 'invalid_union':
      return 'discriminator' in issue && issue.discriminator !== undefined
        ? addBadWord(unionWords(issue), place)
        : addWrongType('scalar', place);
    case 'too_small':
    case 'too_big':
      return addOutOfBounds(issue, place);
    case 'custom':
      return addCustom(issue.params ?? {}, place);
    default:
      place.report.add('JOB203', place.tree.span, `${place.subject} is not valid here`);
  }
}

function unionWords(issue: Issue & { code: 'invalid_union' }): string[] {
  return 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of names',
  scalar: 'one value',
};

function addWrongType(expected: string, { tree, subject, path, report }: Place): void {
  const wanted =
    (expected === 'object' ? report.language.eitherForms[String(path.at(-1))] : undefined) ??
    TYPE_WORDS[expected] ??
    expected;
  const isTextWanted = expected === 'string' && tree.kind === 'scalar';
  const isNumberWanted =
    (expected === 'number' || expected === 'int') && tree.kind === 'scalar' && !tree.plain;
  let remedy: string | null = null;
  if (isTextWanted) remedy = `write "${tree.source}" in quotes`;
  else if (isNumberWanted && /^\d+$/.test(tree.source)) remedy = 'write the number without quotes';
  else if (expected === 'array') remedy = 'start each entry with "- "';
  else if (/^[A-Za-z_]+:\S/.test(textOf(tree) ?? '')) remedy = 'write a space after the colon';
  else if (expected === 'object' && keysAt(path, report.language).length > 0)
    remedy = `its keys are ${keysAt(path, report.language).join(', ')}`;
  report.add('JOB203', tree.span, `${subject} must be ${wanted}, not ${describe(tree)}`, { remedy });
}

function describe(tree: Tree): string {
  if (tree.kind === 'list') return 'a list';
  if (tree.kind === 'map') return 'a map';
  if (typeof tree.value === 'number') return `the number ${tree.source}`;
  if (typeof tree.value === 'boolean') return `${tree.value}`;
  return tree.value === null ? 'nothing' : `the text ${quote(tree.value)}`;
}

function addNoValue(issue: Issue, { tree, path, subject, report }: Place): void {
  const start = Math.max(0, tree.span.start);
  const words = issue.code === 'invalid_value' ? issue.values.map(String) : [];
  const remedy = words.length > 0 ? `write ${oneOf(words)}` : 'write a value, or remove the key';
  const key = typeof path.at(-1) === 'string';
  report.add('JOB217', { start, end: tree.span.end }, `${subject} has no value`, {
    remedy: key ? remedy : 'write the entry, or remove the dash',
  });
}

function addBadWord(words: readonly string[], { path, tree, subject, report }: Place): void {
  if (path.length === 1 && (path[0] === 'kind' || path[0] === 'version'))
    return addBadHead(words, path[0], tree, report);
  const written = tree.kind === 'scalar' ? tree.source : '';
  const found = tree.kind === 'scalar' ? quote(written) : describe(tree);
  const remedy = didYouMean(written, words, `write ${oneOf(words)}`);
  report.add('JOB204', tree.span, `${subject} cannot be ${found}`, { remedy });
}

function addBadHead(words: readonly string[], key: string, tree: Tree, report: Report): void {
  const found = tree.kind === 'scalar' ? quote(tree.source) : describe(tree);
  const quoted = tree.kind === 'scalar' && !tree.plain && words.includes(tree.source);
  const message = quoted
    ? `the ${key} must be written without quotes`
    : `this compiler does not read ${key} ${found}`;
  report.add('JOB211', tree.span, message, { remedy: `write "${key}: ${words.join(', ')}"` });
}

function addOutOfBounds(
  issue: Issue & { code: 'too_small' | 'too_big' },
  { tree, subject, report }: Place,
): void {
  const bound = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const side = issue.code === 'too_small' ? 'at least' : 'at most';
  if (issue.origin === 'number' || issue.origin === 'int') {
    const found = tree.kind === 'scalar' ? tree.source : '';
    return report.add('JOB205', tree.span, `${subject} is ${found}, but must be ${side} ${bound}`);
  }
  const unit =
    issue.origin === 'array' ? (bound === 1 ? 'entry' : 'entries') : bound === 1 ? 'character' : 'characters';
  const code = tree.kind === 'scalar' && tree.source.trim() === '' ? 'JOB217' : 'JOB205';
  report.add(code, tree.span, `${subject} must have ${side} ${bound} ${unit}`);
}

function addCustom(params: Record<string, unknown>, place: Place): void {
  const { tree, subject, report } = place;
  if (typeof params['tooLong'] === 'number') {
    const length = tree.kind === 'scalar' ? [...tree.source].length : 0;
    const message = `a tag value has at most ${params['tooLong']} characters; this one has ${length}`;
    return report.add('JOB212', tree.span, message);
  }
  if (typeof params['tooMany'] === 'number') {
    return report.add('JOB205', tree.span, `${subject} has more than ${params['tooMany']} names`);
  }
  if (isTextRule(params['rule']))
    addBadText(params['rule'], tree.kind === 'scalar' ? tree.source : '', tree.span, place);
}

function addBadText(
  rule: TextRule,
  text: string,
  span: Span,
  { path, report }: Pick<Place, 'path' | 'report'>,
): void {
  if (text.includes(INTERPOLATION_MARK) && rule.interpolates !== true) {
    return report.add('JOB404', span, `${subjectOf(path)} is not interpolated`, {
      remedy: 'interpolation works in prompt, model, repo, branch, tags and key',
    });
  }
  if (text === '') return report.add('JOB217', span, `${subjectOf(path)} is empty`, { remedy: rule.remedy });
  const found = path.includes('secrets') ? 'this' : quote(text);
  const dollar = rule.interpolates === true && text.includes('{{');
  const remedy = dollar ? 'an interpolation starts with a dollar sign: ${{ matrix.AXIS }}' : rule.remedy;
  report.add(rule.code, span, `${found} is not ${rule.what}`, { remedy });
}

function addBadKey(issue: Issue & { code: 'invalid_key' }, root: Tree, report: Report): void {
  const path = issue.path as TreePath;
  const name = String(path.at(-1));
  const entry = entryOf(treeAt(root, path.slice(0, -1)), name);
  const [inner] = issue.issues;
  const rule = inner?.code === 'custom' ? inner.params?.['rule'] : undefined;
  if (entry === undefined || !isTextRule(rule)) return;
  // Names of secrets are no secrets, unless the author wrote the value in the place of the name.
  addBadText(rule, name, entry.keySpan, { path: looksLikeSecret(name) ? path : [], report });
}

function isSecretValue({ path, tree }: Place): boolean {
  if (tree.kind !== 'scalar' || typeof tree.value !== 'string') return false;
  if (path[0] === 'secrets' && path.length === 2) return true;
  return (path.includes('secrets') || path.includes('token')) && looksLikeSecret(tree.value);
}

function addInClear({ tree, report }: Place): void {
  report.add('JOB218', tree.span, 'the value of a secret does not belong in a job file', {
    remedy:
      'declare it under "secrets" as {from: env, name: …}, {from: file, path: …} or {from: store, name: …}',
  });
}

function isTextRule(value: unknown): value is TextRule {
  return typeof value === 'object' && value !== null && 'pattern' in value && 'what' in value;
}

/** `"limits"`, `an entry of "collect"`: long forms of shorthands are named by what stands in the file. */
function subjectOf(path: TreePath): string {
  const name = path.at(-1);
  if (name === undefined) return 'a job';
  if (typeof name === 'number') return `an entry of ${quote(String(path.at(-2)))}`;
  const shorthand = path.at(-2);
  if (name === 'kind' && typeof shorthand === 'number') return 'an entry of "collect"';
  if (name === 'globs') return '"files"';
  if ((name === 'text' || name === 'path') && shorthand === 'prompt')
    return name === 'text' ? '"prompt"' : '"file"';
  if (name === 'from' && shorthand === 'rows') return '"rows"';
  return quote(name);
}
