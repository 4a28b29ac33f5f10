/**
 * Where the keys and items of a document's blocks begin: what a comment of its own line may stand above.
 * Owns the walk of the parser's tree beside its tokens; must not know comments.
 */
import { isCollection, isMap } from 'yaml';
import type { CST, Document, Node, Pair, YAMLMap, YAMLSeq } from 'yaml';

export type Block = YAMLMap<Node, Node | null> | YAMLSeq<Node>;

/** One key with its value, or one item of a list. */
export interface Slot {
  /** Offset of the key with all that is written before it on its line, or of the dash. */
  readonly start: number;
  readonly block: Block;
  /** Carries the comment above: the key, or the item. */
  readonly head: Node;
  /** The value of the key, or the item. */
  readonly value: Node | null;
  /** Null for a value that is a block, and so has slots of its own. */
  readonly leaf: Node | null;
}

interface BlockPlace {
  readonly parent: Block | null;
  /** Column of its keys or dashes, from 0. */
  readonly column: number;
  /** Offsets between which it was written in brackets; null for a block. */
  readonly brackets: readonly [number, number] | null;
}

export interface Slots {
  /** In the order of the text. */
  readonly slots: readonly Slot[];
  readonly blocks: ReadonlyMap<Block, BlockPlace>;
}

/** Brackets for which `opens` is true become blocks: what stands in them may have lines of its own. */
export function slotsOf(
  document: Document.Parsed,
  text: string,
  opens: (from: number, to: number) => boolean,
): Slots {
  const slots: Slot[] = [];
  const blocks = new Map<Block, BlockPlace>();
  const enter = (node: Node | null, parent: Block | null): void => {
    if (!isCollection(node) || (node.flow === true && !opens(...rangeOf(node)))) return;
    const own = isMap(node) ? pairSlots(node) : itemSlots(node as YAMLSeq);
    const [first] = own;
    if (first === undefined) return;
    const brackets = node.flow === true ? rangeOf(node) : null;
    node.flow = false;
    blocks.set(node as Block, { parent, column: columnOf(first.start, text), brackets });
    for (const slot of own) {
      const at = slots.push(slot) - 1;
      enter(slot.value, node as Block);
      if (blocks.has(slot.value as Block)) slots[at] = { ...slot, leaf: null };
    }
  };
  enter(document.contents, null);
  return { slots, blocks };
}

export function columnOf(offset: number, text: string): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

function rangeOf(node: Node): readonly [number, number] {
  return [node.range?.[0] ?? 0, node.range?.[1] ?? 0];
}

function pairSlots(map: YAMLMap): Slot[] {
  return (map.items as TokenPair[]).flatMap(({ key, value, srcToken }) => {
    const start = firstWord(srcToken?.start ?? []) ?? srcToken?.key?.offset ?? key.range?.[0];
    return start === undefined ? [] : [{ start, block: map as Block, head: key, value, leaf: value }];
  });
}

type TokenPair = Pair<Node, Node | null> & { readonly srcToken?: CST.CollectionItem };

function itemSlots(seq: YAMLSeq): Slot[] {
  const tokens = (seq.srcToken as CST.BlockSequence | CST.FlowCollection | undefined)?.items ?? [];
  const dashes = tokens.flatMap(({ start }) => start.find(({ type }) => type === 'seq-item-ind') ?? []);
  return (seq.items as Node[]).flatMap((item, at) => {
    const start = seq.flow === true ? item.range?.[0] : dashes[at]?.offset;
    return start === undefined ? [] : [{ start, block: seq as Block, head: item, value: item, leaf: item }];
  });
}

const BETWEEN: ReadonlySet<string> = new Set(['space', 'comment', 'newline', 'comma']);

function firstWord(tokens: readonly CST.SourceToken[]): number | undefined {
  return tokens.find(({ type }) => !BETWEEN.has(type))?.offset;
}
