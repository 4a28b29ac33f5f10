// YAML text to plain values, with a way back from a path in the values to a line and column of the text.
// It must not know what a script is.

import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Node } from 'yaml';

import type { Position, Problem } from './problem.ts';

export type ValuePath = readonly PropertyKey[];

/** A parsed text: its values and where they stand. */
export interface YamlSource {
  readonly values: unknown;
  /** Where the value at a path begins, or the nearest value around it that exists. */
  readonly valueAt: (path: ValuePath) => Position;
  /** Where the key at the end of a path begins; for a list item, the item. */
  readonly keyAt: (path: ValuePath) => Position;
  readonly has: (path: ValuePath) => boolean;
}

/** Parses one YAML document; warnings (such as an unknown tag) count as problems because a script must mean what it says. */
export function readYaml(
  text: string,
  file: string,
): { readonly source: YamlSource | null; readonly problems: readonly Problem[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number): Position => lines.linePos(offset);
  const problems = [...document.errors, ...document.warnings].map((error): Problem => ({
    file,
    ...place(error.pos[0]),
    message: `cannot read YAML: ${firstLine(error.message)}`,
  }));
  if (problems.length > 0) return { source: null, problems };
  try {
    return { source: sourceOf(document, document.toJS(), place), problems };
  } catch (error) {
    const message = error instanceof Error ? firstLine(error.message) : String(error);
    return { source: null, problems: [{ file, line: 1, col: 1, message: `cannot read YAML: ${message}` }] };
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}

function sourceOf(document: Document, values: unknown, place: (offset: number) => Position): YamlSource {
  const root = document.contents as Node | null;
  const offsetOf = (node: Node | null): number | null => node?.range?.[0] ?? null;
  const valueAt = (path: ValuePath): Position => {
    for (let length = path.length; length > 0; length -= 1) {
      const offset = offsetOf(nodeAt(document, path.slice(0, length)));
      if (offset !== null) return place(offset);
    }
    return place(offsetOf(root) ?? 0);
  };
  const keyAt = (path: ValuePath): Position => {
    const last = path.at(-1);
    const parent = nodeAt(document, path.slice(0, -1));
    const offset = last === undefined ? null : offsetOf(keyNode(parent, last));
    return offset === null ? valueAt(path) : place(offset);
  };
  return { values, valueAt, keyAt, has: (path) => nodeAt(document, path) !== null };
}

function nodeAt(document: Document, path: ValuePath): Node | null {
  let node = document.contents as Node | null;
  for (const segment of path) {
    const parent = isAlias(node) ? (node.resolve(document) ?? null) : node;
    node = childOf(parent, segment);
    if (node === null) return null;
  }
  return node;
}

function childOf(parent: Node | null, segment: PropertyKey): Node | null {
  if (isSeq<Node>(parent)) return parent.items[Number(segment)] ?? null;
  if (!isMap<Node, Node>(parent)) return null;
  return parent.items.find((pair) => nameOf(pair.key) === String(segment))?.value ?? null;
}

function keyNode(parent: Node | null, segment: PropertyKey): Node | null {
  if (!isMap<Node, Node>(parent)) return null;
  return parent.items.find((pair) => nameOf(pair.key) === String(segment))?.key ?? null;
}

function nameOf(key: Node): string | null {
  return isScalar(key) ? String(key.value) : null;
}
