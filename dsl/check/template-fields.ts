/**
 * The fields of a conversation that interpolate, and those that hold a condition.
 * Owns the two lists; what stands in them is checked elsewhere.
 */
import { childOf, entriesOf, itemsOf, treeAt, type Tree } from '../tree.ts';
import { extensionsOf } from './check-context.ts';

export interface TemplateField {
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

export interface ConditionField {
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
