/**
 * Axes to combinations: cross product in declared order, minus `exclude`, plus `include`.
 * Owns the order of items and what is wrong with an axis, an exclusion or an inclusion.
 */
import { didYouMean } from '../check/nearest-name.ts';
import { oneOf, quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import type { ConversationDocument } from '../schema/conversation-schema.ts';
import { childOf, entriesOf, itemsOf, keySpanIn, type Tree } from '../read/tree.ts';

/** Above this, a plan no longer fits into memory and messages comfortably. */
export const ITEMS_MAX = 100_000;

export type Combination = Readonly<Record<string, string>>;

/** Combinations of one conversation; one empty combination without a matrix. `tree` is the conversation's place. */
export function expandMatrix(
  conversation: ConversationDocument,
  tree: Tree | undefined,
  report: Report,
): Combination[] {
  const axes = Object.entries(conversation.matrix ?? {});
  if (axes.length === 0) return [{}];
  const count = axes.reduce((product, [, values]) => product * values.length, 1);
  const matrix = keySpanIn(tree, 'matrix');
  if (count > ITEMS_MAX) {
    const message = `this matrix has ${count} combinations; a plan holds at most ${ITEMS_MAX} conversations`;
    report.add('JOB311', matrix, message);
    return [];
  }
  checkValues(tree, report);
  const product = crossProduct(axes);
  const kept = applyExclude(product, { conversation, tree, report });
  const all = [...kept, ...applyInclude(kept, { conversation, tree, report })];
  if (all.length === 0) {
    report.add('JOB308', matrix, `every one of the ${count} combinations of this matrix is excluded`, {
      remedy: 'remove an entry of "exclude", or the conversation',
    });
  }
  return all;
}

interface Rules {
  readonly conversation: ConversationDocument;
  readonly tree: Tree | undefined;
  readonly report: Report;
}

/** The last axis changes fastest. */
function crossProduct(axes: readonly (readonly [string, readonly string[]])[]): Combination[] {
  return axes.reduce<Combination[]>(
    (combinations, [axis, values]) =>
      combinations.flatMap((combination) => values.map((value) => ({ ...combination, [axis]: value }))),
    [{}],
  );
}

function checkValues(tree: Tree | undefined, report: Report): void {
  for (const axis of entriesOf(childOf(tree, 'matrix'))) {
    const seen = new Set<unknown>();
    for (const item of itemsOf(axis.value)) {
      const value = item.kind === 'scalar' ? item.value : null;
      if (seen.has(value)) {
        report.add('JOB310', item.span, `the axis ${quote(axis.key)} lists ${quote(String(value))} twice`, {
          remedy: 'remove one',
        });
      }
      seen.add(value);
    }
  }
}

function applyExclude(product: readonly Combination[], rules: Rules): Combination[] {
  const { conversation, tree, report } = rules;
  let kept = [...product];
  (conversation.exclude ?? []).forEach((rule, index) => {
    const place = childOf(childOf(tree, 'exclude'), index);
    // What depends on a condition is decided for every row (expand-items.ts).
    if (Object.hasOwn(rule, 'when')) return;
    if (!axesFit(rule, { ...rules, place })) return;
    const matches = product.filter((combination) => isSubset(rule, combination));
    if (matches.length === 0) addNoMatch(rule, { ...rules, place });
    kept = kept.filter((combination) => !isSubset(rule, combination));
  });
  if (conversation.exclude?.some((rule) => Object.keys(rule).length === 0)) {
    report.add(
      'JOB307',
      childOf(tree, 'exclude')?.span ?? { start: 0, end: 0 },
      'an empty entry of "exclude" excludes everything',
    );
  }
  return kept;
}

interface PlacedRules extends Rules {
  readonly place: Tree | undefined;
}

function axesFit(rule: Combination, { conversation, place, report }: PlacedRules): boolean {
  const axes = Object.keys(conversation.matrix ?? {});
  const unknown = Object.keys(rule).filter((axis) => !axes.includes(axis));
  for (const axis of unknown) {
    const remedy = didYouMean(axis, axes, `the axes are ${axes.join(', ')}`);
    report.add('JOB309', keySpanIn(place, axis), `the matrix has no axis ${quote(axis)}`, { remedy });
  }
  return unknown.length === 0;
}

function addNoMatch(rule: Combination, { conversation, place, report }: PlacedRules): void {
  const stranger = Object.entries(rule).find(
    ([axis, value]) => !conversation.matrix?.[axis]?.includes(value),
  );
  if (stranger === undefined) return;
  const [axis, value] = stranger;
  const values = conversation.matrix?.[axis] ?? [];
  const span = (childOf(place, axis) ?? place)?.span ?? { start: 0, end: 0 };
  const message = `the axis ${quote(axis)} has no value ${quote(value)}, so this excludes nothing`;
  report.add('JOB307', span, message, {
    remedy: didYouMean(value, values, `its values are ${oneOf(values.slice(0, 10))}`),
  });
}

function applyInclude(kept: readonly Combination[], rules: Rules): Combination[] {
  const { conversation, tree, report } = rules;
  const axes = Object.keys(conversation.matrix ?? {});
  const known = new Set(kept.map((combination) => identity(combination, axes)));
  return (conversation.include ?? []).flatMap((rule, index) => {
    const place = childOf(childOf(tree, 'include'), index);
    if (!axesFit(rule, { ...rules, place })) return [];
    const span = entriesOf(place)[0]?.keySpan ?? place?.span ?? { start: 0, end: 0 };
    const absent = axes.filter((axis) => !Object.hasOwn(rule, axis));
    if (absent.length > 0) {
      report.add('JOB309', span, `this combination leaves out the axis ${oneOf(absent)}`, {
        remedy: '"include" adds whole combinations: name every axis',
      });
      return [];
    }
    if (known.has(identity(rule, axes))) {
      report.add('JOB310', span, 'this combination is in the matrix already', {
        remedy: '"include" only adds; remove the entry',
      });
      return [];
    }
    known.add(identity(rule, axes));
    return [Object.fromEntries(axes.map((axis) => [axis, rule[axis] ?? '']))];
  });
}

export function isSubset(rule: Combination, combination: Combination): boolean {
  return Object.entries(rule).every(([axis, value]) => combination[axis] === value);
}

function identity(combination: Combination, axes: readonly string[]): string {
  return JSON.stringify(axes.map((axis) => combination[axis]));
}
