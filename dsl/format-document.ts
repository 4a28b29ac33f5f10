/**
 * A file in canonical layout: keys in the order of the language, two spaces, comments kept.
 * Owns the order and the layout; a text whose meaning would change is refused, never written.
 */
import { isMap, isPair, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, Node, Pair, YAMLMap } from 'yaml';
import { z } from 'zod';

import { canonicalJson } from './canonical-json.ts';
import { checkIndentation } from './check-indentation.ts';
import { decodeSource, type JobSource } from './decode-source.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Language } from './language.ts';
import { unwrap } from './normalise.ts';
import { parseYaml } from './parse-yaml.ts';
import { createReport } from './report.ts';
import type { Tree } from './tree.ts';

export type Formatted =
  | { readonly kind: 'formatted'; readonly text: string }
  /** The text is not YAML that the language reads. */
  | { readonly kind: 'broken'; readonly diagnostics: readonly Diagnostic[] }
  /** It cannot be laid out without changing what it says. */
  | { readonly kind: 'refused' };

export function formatDocument(source: JobSource, language: Language): Formatted {
  const read = readTree(source, language);
  if (!('tree' in read)) return { kind: 'broken', diagnostics: read.diagnostics };
  const options = { uniqueKeys: false, prettyErrors: false, merge: false } as const;
  const document = parseDocument(read.text, { version: '1.2', schema: 'core', ...options });
  const modelines = takeModelines(document.contents);
  orderKeys(document.contents, language.schema);
  const text = `${modelines}${printed(document)}`;
  const again = readTree({ path: source.path, text }, language);
  const isSame = 'tree' in again && meaningOf(again.tree) === meaningOf(read.tree);
  return isSame ? { kind: 'formatted', text } : { kind: 'refused' };
}

type ReadTree =
  { readonly tree: Tree; readonly text: string } | { readonly diagnostics: readonly Diagnostic[] };

function readTree(source: JobSource, language: Language): ReadTree {
  const decoded = decodeSource(source.text, language.document);
  const report = createReport(source.path, decoded.ok ? decoded.text : '', language);
  if (!decoded.ok) {
    report.add(decoded.code, { start: 0, end: 0 }, decoded.message, { remedy: decoded.remedy });
    return { diagnostics: report.diagnostics() };
  }
  checkIndentation(report);
  const tree = report.hasErrors() ? null : parseYaml(report);
  return tree === null || report.hasErrors()
    ? { diagnostics: report.diagnostics() }
    : { tree, text: decoded.text };
}

/** Long lines stay as they are: a line break in a text is the author's business. */
function printed(document: Document): string {
  return document.toString({ lineWidth: 0, indent: 2, indentSeq: true, flowCollectionPadding: true });
}

/** What a tree says, whatever the order of keys; sources count, because 2.50 is not 2.5 everywhere. */
function meaningOf(tree: Tree): string {
  return canonicalJson(plainOf(tree));
}

function plainOf(tree: Tree): unknown {
  switch (tree.kind) {
    case 'scalar':
      return tree.value === null ? null : [typeof tree.value, tree.source];
    case 'list':
      return tree.items.map(plainOf);
    case 'map':
      return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plainOf(value)]));
  }
}

/** Editors read these lines at the top only, whichever key comes first. */
function takeModelines(contents: Node | null): string {
  const first = isMap(contents) ? contents.items[0]?.key : null;
  if (!isScalar(first) || typeof first.commentBefore !== 'string') return '';
  const lines = first.commentBefore.split('\n');
  const isModeline = (line: string): boolean => /^ (?:yaml-language-server:|\$schema:)/.test(line);
  const others = lines.filter((line) => !isModeline(line));
  first.commentBefore = others.length === 0 ? null : others.join('\n');
  return lines
    .filter(isModeline)
    .map((line) => `#${line}\n`)
    .join('');
}

function orderKeys(node: Node | null, schema: z.core.$ZodType): void {
  const bare = unwrap(schema);
  if (isSeq(node) && bare instanceof z.ZodArray) {
    for (const item of node.items) orderKeys(item as Node | null, bare.element);
  } else if (isMap(node)) orderMap(node, bare);
}

function orderMap(map: YAMLMap, schema: z.core.$ZodType): void {
  const fields = fieldsOf(schema);
  const order = [...fields.keys()];
  if (!(schema instanceof z.ZodRecord)) {
    const rank = (pair: Pair): number => {
      const at = order.indexOf(keyOf(pair));
      return at === -1 ? order.length : at;
    };
    map.items.sort((a, b) => rank(a) - rank(b));
  }
  const [first] = map.items;
  if (isPair(first) && isScalar(first.key)) first.key.spaceBefore = false;
  for (const pair of map.items) {
    const inside = schema instanceof z.ZodRecord ? schema.valueType : fields.get(keyOf(pair));
    if (inside !== undefined) orderKeys(pair.value as Node | null, inside);
  }
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : '';
}

/** Fields in the order of the language; a union has those of all its options. */
function fieldsOf(schema: z.core.$ZodType): ReadonlyMap<string, z.core.$ZodType> {
  if (schema instanceof z.ZodObject) return new Map(Object.entries<z.core.$ZodType>(schema.shape));
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return new Map();
  return new Map(schema.options.flatMap((option) => [...fieldsOf(option)]));
}
