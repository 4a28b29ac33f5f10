/**
 * `append`: entries behind the lists that a job takes over from the file it extends.
 * Owns how two lists become one; every entry keeps its place in the file it came from.
 */
import { keysAt } from './check/key-advice.ts';
import { didYouMean } from './check/nearest-name.ts';
import { oneOf, quote } from './read/quote.ts';
import type { Report } from './check/report.ts';
import { appendSchema } from './schema/append-schema.ts';
import { namesAsMap } from './schema/shorthand.ts';
import { entryOf, treeAt, type Tree, type TreeEntry, type TreePath } from './read/tree.ts';

const APPEND = 'append';

/** `merged` is `own` over `inherited`; what stands under `append` of `own` is put behind the lists of `inherited`. */
export function appendLists(
  { own, inherited, merged }: { readonly own: Tree; readonly inherited: Tree; readonly merged: Tree },
  report: Report,
): Tree {
  const append = entryOf(own, APPEND);
  if (append === undefined) return merged;
  return additionsIn(append, report).reduce(
    (whole, addition) => withAddition(whole, { addition, own, inherited, report }),
    withoutAppend(merged),
  );
}

/** A file that extends nothing has no lists to add to. */
export function refuseAppend(tree: Tree, report: Report): Tree {
  const append = entryOf(tree, APPEND);
  if (append === undefined) return tree;
  report.add('JOB325', append.keySpan, '"append" adds to lists of another file, and "extends" names none', {
    remedy: 'write the lists themselves, or add "extends"',
  });
  return withoutAppend(tree);
}

function withoutAppend(tree: Tree): Tree {
  return tree.kind === 'map' ? { ...tree, entries: tree.entries.filter(({ key }) => key !== APPEND) } : tree;
}

interface Addition {
  readonly path: TreePath;
  readonly entry: TreeEntry;
}

const TOP_LISTS = Object.keys(appendSchema.shape);
const DEFAULTS_LISTS = Object.keys(appendSchema.shape.defaults.unwrap().shape);

function additionsIn({ keySpan, value }: TreeEntry, report: Report): Addition[] {
  if (value.kind !== 'map') {
    report.add('JOB203', keySpan, '"append" must be a map of lists', {
      remedy: `its keys are ${oneOf(TOP_LISTS)}`,
    });
    return [];
  }
  return value.entries.flatMap((entry): Addition[] => {
    if (!isKnown(entry, { at: [], lists: TOP_LISTS, report })) return [];
    if (entry.key !== 'defaults') return [{ path: [entry.key], entry }];
    if (entry.value.kind !== 'map') {
      report.add('JOB203', entry.keySpan, '"defaults" of "append" must be a map of lists', {
        remedy: `its keys are ${oneOf(DEFAULTS_LISTS)}`,
      });
      return [];
    }
    return entry.value.entries
      .filter((inner) => isKnown(inner, { at: ['defaults'], lists: DEFAULTS_LISTS, report }))
      .map((inner) => ({ path: ['defaults', inner.key], entry: inner }));
  });
}

interface Place {
  /** Of the map in the job. */
  readonly at: TreePath;
  readonly lists: readonly string[];
  readonly report: Report;
}

function isKnown({ key, keySpan }: TreeEntry, { at, lists, report }: Place): boolean {
  if (lists.includes(key)) return true;
  if (keysAt(at, report.language).includes(key)) {
    report.add('JOB325', keySpan, `nothing can be appended to ${quote(key)}`, {
      remedy: 'write it outside of "append": maps are merged key by key, everything else is replaced',
    });
    return false;
  }
  report.add('JOB201', keySpan, `unknown key ${quote(key)} in "append"`, {
    remedy: didYouMean(key, lists, `write ${oneOf(lists)}`),
  });
  return false;
}

interface AdditionContext {
  readonly addition: Addition;
  readonly own: Tree;
  readonly inherited: Tree;
  readonly report: Report;
}

function withAddition(whole: Tree, { addition, own, inherited, report }: AdditionContext): Tree {
  const { path, entry } = addition;
  const name = quote(path.join('.'));
  const written = treeAt(own, path);
  if (written !== undefined) {
    report.add('JOB215', entry.keySpan, `${name} is replaced in this file, and added to as well`, {
      remedy: 'keep one of the two',
      related: [{ span: written.span, message: 'replaced here' }],
    });
    return whole;
  }
  const before = treeAt(inherited, path);
  if (before === undefined) {
    report.add('JOB325', entry.keySpan, `the other file has no ${name} to add to`, {
      remedy: `write ${name} outside of "append"`,
    });
    return whole;
  }
  if (entry.value.kind !== 'list') {
    report.add('JOB203', entry.value.span, `${name} under "append" must be a list`, {
      remedy: 'start each entry with "- "',
    });
    return whole;
  }
  // What is no list in the other file is a finding of the schema, there.
  return replaced(whole, path, joined(before, entry.value, report));
}

function joined(before: Tree, added: Extract<Tree, { kind: 'list' }>, report: Report): Tree {
  if (before.kind === 'list') return { ...added, items: [...before.items, ...added.items] };
  // Names of secrets beside a map of them.
  const names = namesAsMap.normalise(added, { report, unknownKey: () => undefined });
  if (before.kind !== 'map' || names.kind !== 'map') return before;
  const others = before.entries.filter(({ key }) => entryOf(names, key) === undefined);
  return { ...before, entries: [...others, ...names.entries] };
}

/** Maps on the way are there: the other file has the list. */
function replaced(tree: Tree, [step, ...rest]: TreePath, value: Tree): Tree {
  if (step === undefined) return value;
  if (tree.kind !== 'map') return tree;
  const entries = tree.entries.map((entry) =>
    entry.key === step ? { ...entry, value: replaced(entry.value, rest, value) } : entry,
  );
  return { ...tree, entries };
}
