/**
 * The fields of a conversation that interpolate, and those that hold a condition.
 * Owns the lists; what stands in them is checked elsewhere.
 */
import { childOf, entriesOf, itemsOf, treeAt, type Tree, type TreePath } from '../read/tree.ts';
import { extensionsOf } from './check-context.ts';

interface TemplateField {
  readonly tree: Tree;
  /** The key may hold `${{ id }}`. */
  readonly withId: boolean;
}

const TEXT_PATHS = [
  ['prompt', 'text'],
  ['model'],
  ['branch'],
  ['repo', 'name'],
  ['repo', 'branch'],
  ['repo', 'ref'],
  ['priority'],
] as const;

/** Every field of a conversation that interpolates, those that `extend` sets included. */
export function templateFields(conversation: Tree): TemplateField[] {
  const maps = [conversation, ...extensionsOf(conversation)];
  const texts = maps.flatMap((map) => TEXT_PATHS.map((path) => treeAt(map, path)));
  const named = [
    ...maps.flatMap((map) => entriesOf(childOf(map, 'tags'))),
    ...entriesOf(treeAt(conversation, ['prompt', 'vars'])),
  ];
  const all = [...texts, ...named.map((entry) => entry.value)];
  const fields = all.flatMap((tree) => (tree ? [{ tree, withId: false }] : []));
  const key = childOf(conversation, 'key');
  return key === undefined ? fields : [...fields, { tree: key, withId: true }];
}

interface ConditionField {
  readonly tree: Tree;
  /** Asked of a row, before there are combinations. */
  readonly ofRow: boolean;
}

export function conditionFields(conversation: Tree): ConditionField[] {
  const where = treeAt(conversation, ['items', 'where']);
  const lists = ['exclude', 'extend'].flatMap((key) => itemsOf(childOf(conversation, key)));
  const whens = lists.flatMap((entry) => childOf(entry, 'when') ?? []);
  return [
    ...(where === undefined ? [] : [{ tree: where, ofRow: true }]),
    ...whens.map((tree) => ({ tree, ofRow: false })),
  ];
}

/** Texts that are written short, and the key, which only a conversation itself has. */
const SHORT_PATHS = ['prompt', 'repo', 'key'];
const WRITTEN_PATHS: ReadonlySet<string> = new Set([
  ...SHORT_PATHS,
  ...TEXT_PATHS.map((path) => path.join('.')),
]);

/** Whether the text at a path of the file as it is written, short spellings included, is filled once more. */
export function isFilledLater([top, ...below]: TreePath): boolean {
  if (top === 'placement') return below.join('.') === 'pool.affinity';
  if (top !== 'defaults' && top !== 'conversations') return false;
  const own = top === 'defaults' ? below : below.slice(1);
  if (own[0] === 'items') return own[1] === 'list' || typeof own[1] === 'number';
  const field = own[0] === 'extend' && own[2] === 'set' ? own.slice(3) : own;
  const isNamed = field[0] === 'tags' || (field[0] === 'prompt' && field[1] === 'vars');
  return isNamed || WRITTEN_PATHS.has(field.join('.'));
}
