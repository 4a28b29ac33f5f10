/**
 * What `exclude` leaves out by a condition, and what `extend` sets, combination by combination.
 * Owns these two decisions and that an entry which never counts is said.
 */
import type { CheckContext } from '../check/check-context.ts';
import type { Entry } from './entry.ts';
import { isSubset, type Combination } from './expand-matrix.ts';
import { FillFailure, type Condition } from './interpolate.ts';
import { didYouMean } from '../check/nearest-name.ts';
import type { PlanValues } from './plan-scope.ts';
import { quote } from '../read/quote.ts';
import type { Row } from '../rows/row.ts';
import { childOf, entriesOf, keySpanIn, type Tree } from '../read/tree.ts';

export interface EntryRules {
  excludes(values: PlanValues, row: Row | null): boolean;
  /** Indexes of the entries of `extend` that count, in order. */
  extensions(values: PlanValues, row: Row | null): readonly number[];
  /** Says which entries never counted. */
  finish(): void;
}

interface Rule {
  readonly key: 'exclude' | 'extend';
  readonly index: number;
  readonly match: Combination;
  readonly condition: Condition | null;
  readonly tree: Tree | undefined;
  matched: boolean;
}

export function createEntryRules(entry: Entry, context: CheckContext): EntryRules {
  const excluding = rulesOf(entry, 'exclude').filter(({ condition }) => condition !== null);
  const extending = rulesOf(entry, 'extend').filter((rule) => axesFit(rule, entry, context));
  const counts = (rule: Rule, values: PlanValues, row: Row | null): boolean => {
    const found = isMatch(rule, values);
    if (found instanceof FillFailure) addFailure(found, { rule, row, entry, context });
    const matches = found === true;
    rule.matched ||= matches;
    return matches;
  };
  return {
    excludes: (values, row) =>
      excluding.length > 0 && excluding.filter((rule) => counts(rule, values, row)).length > 0,
    extensions: (values, row) =>
      extending.length === 0
        ? []
        : extending.filter((rule) => counts(rule, values, row)).map(({ index }) => index),
    finish: () =>
      [...excluding, ...extending]
        .filter(({ matched }) => !matched)
        .forEach((rule) => addUseless(rule, context)),
  };
}

function rulesOf({ conversation, tree, scope }: Entry, key: Rule['key']): Rule[] {
  const list: readonly { readonly match: Combination; readonly when: string | undefined }[] =
    key === 'exclude'
      ? (conversation.exclude ?? []).map(({ when, ...match }) => ({ match, when }))
      : (conversation.extend ?? []).map(({ match, when }) => ({ match: match ?? {}, when }));
  return list.map(({ match, when }, index) => ({
    key,
    index,
    match,
    condition: when === undefined ? null : scope.texts().condition(when),
    tree: childOf(childOf(tree, key), index),
    matched: false,
  }));
}

function isMatch({ match, condition }: Rule, values: PlanValues): boolean | FillFailure {
  if (!isSubset(match, values.matrix)) return false;
  return condition === null ? true : condition(values);
}

function axesFit({ match, tree }: Rule, { conversation }: Entry, { report }: CheckContext): boolean {
  const axes = Object.keys(conversation.matrix ?? {});
  const unknown = Object.keys(match).find((axis) => !axes.includes(axis));
  if (unknown === undefined) return true;
  const list = axes.length === 0 ? 'this conversation has no matrix' : `the axes are ${axes.join(', ')}`;
  const remedy = didYouMean(unknown, axes, list);
  const span = keySpanIn(childOf(tree, 'match'), unknown);
  report.add('JOB309', span, `the matrix has no axis ${quote(unknown)}`, { remedy });
  return false;
}

interface FailureContext {
  readonly rule: Rule;
  readonly row: Row | null;
  readonly entry: Entry;
  readonly context: CheckContext;
}

function addFailure({ reason }: FillFailure, { rule, row, entry, context }: FailureContext): void {
  const span = childOf(rule.tree, 'when')?.span ?? { start: 0, end: 0 };
  const where = row === null ? 'a combination' : `row ${row.number} of ${entry.scope.data?.spoken ?? ''}`;
  context.report.add('JOB411', span, `this fails for ${where}: ${reason}`);
}

function addUseless({ key, tree }: Rule, { report }: CheckContext): void {
  const span = entriesOf(tree)[0]?.keySpan ?? { start: 0, end: 0 };
  const code = key === 'exclude' ? 'JOB307' : 'JOB321';
  const message =
    key === 'exclude' ? 'this entry excludes nothing' : 'this entry of "extend" matches no conversation';
  report.add(code, span, message, { remedy: 'correct its condition, or remove it' });
}
