/**
 * A file as data that still knows where it stands in the text.
 * Owns the shape and the ways into it; must not know YAML or a language.
 */
import type { Span } from './text-position.ts';

/** A document with the place of each of its values. */
export type Tree = TreeMap | TreeList | TreeScalar;

export interface TreeMap {
  readonly kind: 'map';
  readonly span: Span;
  readonly entries: readonly TreeEntry[];
}

export interface TreeEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: Tree;
}

interface TreeList {
  readonly kind: 'list';
  readonly span: Span;
  readonly items: readonly Tree[];
}

export interface TreeScalar {
  readonly kind: 'scalar';
  readonly span: Span;
  readonly value: string | number | boolean | null;
  /** The text as written; for quoted and block text the same as `value`. */
  readonly source: string;
  /** Written without quotes on one or more lines, not as a block. */
  readonly plain: boolean;
  /** Stands for an input that has no value yet: nothing can be said about it. */
  readonly open?: true;
}

/** Keys and indexes from the top down. */
export type TreePath = readonly (string | number)[];

/** The entry of a map; undefined for anything but a map that has the key. */
export function entryOf(tree: Tree | undefined, key: string): TreeEntry | undefined {
  return tree?.kind === 'map' ? tree.entries.find((entry) => entry.key === key) : undefined;
}

/** Where the key of a map stands; the beginning of the file for anything but a map that has it. */
export function keySpanIn(tree: Tree | undefined, key: string): Span {
  return entryOf(tree, key)?.keySpan ?? { start: 0, end: 0 };
}

export function childOf(tree: Tree | undefined, key: string | number): Tree | undefined {
  if (typeof key === 'number') return tree?.kind === 'list' ? tree.items[key] : undefined;
  return entryOf(tree, key)?.value;
}

/** The value at a path; undefined where the way ends early. */
export function treeAt(tree: Tree | undefined, path: TreePath): Tree | undefined {
  return path.reduce<Tree | undefined>(childOf, tree);
}

/** Entries of a map, or none. */
export function entriesOf(tree: Tree | undefined): readonly TreeEntry[] {
  return tree?.kind === 'map' ? tree.entries : [];
}

/** Items of a list, or none. */
export function itemsOf(tree: Tree | undefined): readonly Tree[] {
  return tree?.kind === 'list' ? tree.items : [];
}

/** The text of a scalar that is text, or null. */
export function textOf(tree: Tree | undefined): string | null {
  return tree?.kind === 'scalar' && typeof tree.value === 'string' ? tree.value : null;
}

/** A scalar of text at a place in the file: what shorthands are rewritten with. */
export function textNode(value: string, span: Span): TreeScalar {
  return { kind: 'scalar', span, value, source: value, plain: false };
}

export function mapNode(span: Span, entries: Readonly<Record<string, Tree>>): TreeMap {
  const named = Object.entries(entries).map(([key, value]) => ({ key, keySpan: value.span, value }));
  return { kind: 'map', span, entries: named };
}

/** Plain values for the schema. `Object.fromEntries` defines own properties, so no key reaches a prototype. */
export function toValue(tree: Tree): unknown {
  switch (tree.kind) {
    case 'scalar':
      return tree.value;
    case 'list':
      return tree.items.map(toValue);
    case 'map':
      return Object.fromEntries(tree.entries.map((entry) => [entry.key, toValue(entry.value)]));
  }
}
