/**
 * Comments put to what they speak of: those above a key or item go with it, those behind a value with the value.
 * Owns the rules, so that a text that was laid out has its comments at the same places when it is read again;
 * the parser's own would let a comment above a section go with the end of the one before.
 */
import { isMap, isScalar, type CST, type Document, type Node, type Scalar } from 'yaml';

import { columnOf, slotsOf, type Block, type Slot, type Slots } from './block-slots.ts';

interface PlacedComments {
  /** Above everything, and below: whatever order the keys come in. */
  readonly header: readonly string[];
  readonly footer: readonly string[];
  /** Behind a dash whose item is a block: to be put above its first key, whichever that will be. */
  readonly behindDash: ReadonlyMap<Block, string>;
}

interface Comment {
  readonly offset: number;
  /** Behind the `#`; a blank where there is nothing, as the printer expects it. */
  readonly text: string;
}

interface Placing extends Slots {
  readonly text: string;
  /** Of the slots, in order. */
  readonly starts: readonly number[];
  readonly above: Map<Slot, Comment[]>;
  readonly below: Map<Block, Comment[]>;
  readonly footer: Comment[];
  readonly behindDash: Map<Block, string>;
}

/** Takes from the nodes what the parser gave them, and gives each its own; null where there are no blocks. */
export function placeComments(
  document: Document.Parsed,
  tokens: readonly CST.Token[],
  text: string,
): PlacedComments | null {
  const comments = commentsOf(tokens);
  const offsets = comments.map(({ offset }) => offset);
  const isBetween = (from: number, to: number): boolean => {
    const next = offsets[countUpTo(offsets, from)];
    return next !== undefined && next < to;
  };
  const read = slotsOf(document, text, isBetween);
  const [first] = read.slots;
  if (first === undefined) return null;
  const headers = read.slots.flatMap(({ leaf }) => (isBlockText(leaf) ? [leaf.range ?? [0, 0]] : []));
  strip(document, read);
  const placing: Placing = {
    ...read,
    text,
    starts: read.slots.map(({ start }) => start),
    above: new Map(),
    below: new Map(),
    footer: [],
    behindDash: new Map(),
  };
  for (const comment of comments) {
    const isInHeader = headers.some(([from = 0, to = 0]) => from < comment.offset && comment.offset < to);
    if (!isInHeader) place(comment, placing);
  }
  const header = takeHeader(first, placing);
  const firsts = new Set<Block>();
  for (const slot of read.slots) {
    settle(slot, placing, firsts.has(slot.block));
    firsts.add(slot.block);
  }
  for (const [block, found] of placing.below) block.comment = linesOf(found, text).join('\n');
  return { header, footer: linesOf(placing.footer, text), behindDash: placing.behindDash };
}

/** Behind its `|` the parser keeps a comment where it stands. */
function isBlockText(node: Node | null): node is Scalar {
  return isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
}

/** To be called once keys are in their order. */
export function placeBehindDashes(behindDash: ReadonlyMap<Block, string>): void {
  for (const [block, comment] of behindDash) {
    const first = isMap(block) ? block.items[0]?.key : block.items[0];
    if (first) first.commentBefore = [comment, first.commentBefore].filter((line) => line).join('\n');
  }
}

/** With a list of its own in place of recursion: tokens nest as the text does. */
export function commentsOf(tokens: readonly CST.Token[]): Comment[] {
  const comments: Comment[] = [];
  const open: unknown[] = [...tokens];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const { type, offset = 0, source = '' } = value as Partial<CST.SourceToken>;
    if (type === 'comment') comments.push({ offset, text: source.slice(1).trimEnd() || ' ' });
    else for (const inner of Object.values(value as object)) if (isObject(inner)) open.push(inner);
  }
  return comments.sort((a, b) => a.offset - b.offset);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function strip(document: Document.Parsed, { slots, blocks }: Slots): void {
  document.commentBefore = null;
  document.comment = null;
  for (const block of blocks.keys()) bare(block);
  for (const { head, leaf } of slots) {
    const kept = (isBlockText(leaf) ? leaf.comment : null) ?? null;
    bare(head);
    if (leaf !== null) bare(leaf);
    if (isBlockText(leaf)) leaf.comment = kept;
  }
}

function bare(node: Node): void {
  node.commentBefore = null;
  node.comment = null;
  if ('spaceBefore' in node) node.spaceBefore = false;
}

function place(comment: Comment, placing: Placing): void {
  const { slots, starts, text, above } = placing;
  const { offset } = comment;
  const at = countUpTo(starts, offset) - 1;
  const slot = slots[at];
  const [first] = slots;
  if (slot === undefined) return first && addTo(above, first, comment);
  if (text.slice(offset - columnOf(offset, text), offset).trim() !== '')
    return placeBehind(comment, slot, placing);
  const isInPair = (slot.leaf?.range?.[0] ?? 0) > offset;
  if (isInPair) return addTo(above, slot, comment);
  placeOnItsOwn(comment, { previous: slot, next: slots[at + 1] }, placing);
}

function placeBehind(comment: Comment, slot: Slot, placing: Placing): void {
  const { above, behindDash } = placing;
  const { head, leaf, block, value } = slot;
  const closed = closedBefore(comment, slot, placing);
  if (closed !== null) addTo(above, closed, comment);
  else if (leaf !== null && !leaf.comment) leaf.comment = comment.text;
  else if (leaf === null && isMap(block) && !head.comment) head.comment = comment.text;
  else if (leaf === null && !isMap(block) && value !== null) behindDash.set(value as Block, comment.text);
  else addTo(above, slot, comment);
}

/** The key or item whose brackets, which become a block, close before the comment; null when none do. */
function closedBefore({ offset }: Comment, { block }: Slot, { blocks, slots }: Placing): Slot | null {
  const closed = chainOf(block, blocks).findLast((one) => {
    const brackets = blocks.get(one)?.brackets ?? null;
    return brackets !== null && brackets[1] <= offset;
  });
  return closed === undefined ? null : (slots.find(({ value }) => value === closed) ?? null);
}

interface Neighbours {
  readonly previous: Slot;
  readonly next: Slot | undefined;
}

/** Above the key that follows, unless it is indented like something that ends here, or the brackets around it end. */
function placeOnItsOwn(comment: Comment, { previous, next }: Neighbours, placing: Placing): void {
  const { blocks, text, above, below, footer } = placing;
  const chain = chainOf(previous.block, blocks);
  const around = chain.find((block) => isIn(comment, blocks.get(block)?.brackets ?? null));
  const isNextOutside =
    next === undefined ||
    !isIn({ offset: next.start }, blocks.get(around ?? previous.block)?.brackets ?? null);
  if (around !== undefined && isNextOutside) return addTo(below, around, comment);
  const column = columnOf(comment.offset, text);
  const end = next === undefined ? chain.length - 1 : chain.indexOf(next.block);
  const columnAt = (block: Block | undefined): number => (block && blocks.get(block)?.column) ?? 0;
  const ending = chain.slice(0, Math.max(end, 0)).filter((block) => blocks.get(block)?.brackets === null);
  const isDeeper = around === undefined && column > columnAt(chain[end]) && ending.length > 0;
  if (!isDeeper) return next === undefined ? void footer.push(comment) : addTo(above, next, comment);
  const nearest = ending.filter((block) => columnAt(block) <= column).map(columnAt);
  const wanted = nearest.length === 0 ? columnAt(ending.at(-1)) : Math.max(...nearest);
  const block = ending.findLast((one) => columnAt(one) === wanted);
  if (block !== undefined) addTo(below, block, comment);
}

function isIn({ offset }: { readonly offset: number }, brackets: readonly [number, number] | null): boolean {
  return brackets !== null && brackets[0] < offset && offset < brackets[1];
}

/** The block and those around it, the innermost first. */
function chainOf(block: Block, blocks: Slots['blocks']): Block[] {
  const chain = [block];
  for (let one = blocks.get(block)?.parent; one; one = blocks.get(one)?.parent) chain.push(one);
  return chain;
}

function addTo<Key>(map: Map<Key, Comment[]>, key: Key, comment: Comment): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [comment]);
  else list.push(comment);
}

/** How many of a sorted list are at most `bound`. */
function countUpTo(sorted: readonly number[], bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What stands above a blank line, or above the mark of the document, speaks of the whole file. */
function takeHeader(first: Slot, { above, text }: Placing): readonly string[] {
  const found = above.get(first) ?? [];
  const isApart = (from: number, to: number): boolean =>
    /\n[ \t]*\r?\n|^---/m.test(text.slice(from, to).replace(/^[^\n]*/, ''));
  const last = found.findLastIndex(({ offset }, at) => isApart(offset, found[at + 1]?.offset ?? first.start));
  above.set(first, found.slice(last + 1));
  return linesOf(found.slice(0, last + 1), text);
}

function settle(slot: Slot, { above, text }: Placing, follows: boolean): void {
  const { head, start } = slot;
  const found = above.get(slot) ?? [];
  const lines = linesOf(found, text);
  if (found.length > 0)
    head.commentBefore = [...lines, ...(isBelowBlank(start, text) ? [''] : [])].join('\n');
  const top = found[0]?.offset ?? start;
  if (follows && isBelowBlank(top, text)) (head as { spaceBefore?: boolean }).spaceBefore = true;
}

/** A blank line between two comments stays one. */
function linesOf(comments: readonly Comment[], text: string): string[] {
  return comments.flatMap((comment, at) =>
    at > 0 && isBelowBlank(comment.offset, text) ? ['', comment.text] : [comment.text],
  );
}

function isBelowBlank(offset: number, text: string): boolean {
  const start = offset - columnOf(offset, text);
  return start > 0 && text.slice(start - 1 - columnOf(start - 1, text), start).trim() === '';
}
