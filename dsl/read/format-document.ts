/**
 * A file in canonical layout: keys in the order of the language, two spaces, comments kept.
 * Owns the order and the layout; a text whose meaning would change is refused, never written.
 */
import { isAlias, isMap, isPair, isScalar, isSeq, visit } from 'yaml';
import type { Document, Node, Pair, YAMLMap } from 'yaml';
import { z } from 'zod';

import { canonicalJson } from '../../core/canonical-json.ts';
import { decodeSource, type JobSource } from './decode-source.ts';
import type { Diagnostic } from '../check/diagnostic.ts';
import type { Language } from '../language.ts';
import { unwrap } from './normalise.ts';
import { parseYaml } from './parse-yaml.ts';
import { commentsOf, placeBehindDashes, placeComments } from '../place-comments.ts';
import { createReport } from '../check/report.ts';
import type { Tree } from './tree.ts';
import { readYamlDocument } from '../yaml-document.ts';

/** What became of a text that was to be laid out. */
export type Formatted =
  | { readonly kind: 'formatted'; readonly text: string }
  /** The text is not YAML that the language reads. */
  | { readonly kind: 'broken'; readonly diagnostics: readonly Diagnostic[] }
  /** It cannot be laid out without changing what it says. */
  | { readonly kind: 'refused' };

/** Brackets with comments in them may need a second time until they stay as they are. */
const TIMES_MAX = 3;

/** The text in canonical layout, if that says the same. */
export function formatDocument(source: JobSource, language: Language): Formatted {
  const read = readTree(source, language);
  if (!('tree' in read)) return { kind: 'broken', diagnostics: read.diagnostics };
  let { text } = read;
  for (let times = 0; times < TIMES_MAX; times += 1) {
    const laidOut = layOut(text, language);
    if (laidOut === text && times > 0) break;
    text = laidOut;
  }
  const again = readTree({ path: source.path, text }, language);
  const isSame =
    'tree' in again &&
    meaningOf(again.tree) === meaningOf(read.tree) &&
    canonicalJson(commentTexts(text)) === canonicalJson(commentTexts(read.text)) &&
    layOut(text, language) === text;
  return isSame ? { kind: 'formatted', text } : { kind: 'refused' };
}

/** The text has been read before, so it is one document that is not too deep. */
function layOut(text: string, language: Language, isOrdered = true): string {
  const read = readYamlDocument(text);
  if (read.kind === 'too_deep') return text;
  const { document, tokens } = read;
  const placed = placeComments(document, tokens, text);
  const taken = takeModelines(document.contents);
  if (isOrdered) orderKeys(document.contents, language.schema);
  if (!followAnchors(document)) return layOut(text, language, false);
  if (placed === null) return `${printed(document)}\n`;
  placeBehindDashes(placed.behindDash);
  const modelines = [...placed.header.filter(isModeline), ...taken];
  const header = placed.header.filter((line) => !isModeline(line));
  const directives = tokens.flatMap((token) => (token.type === 'directive' ? [token.source.trimEnd()] : []));
  const hasMark = directives.length > 0 || document.directives.docStart === true;
  const lines = [
    ...[...modelines, ...header].map(asComment),
    ...(placed.header.length > 0 && !hasMark ? [''] : []),
    ...directives,
    ...(hasMark ? ['---'] : []),
  ];
  return [...lines, printed(document), ...placed.footer.map(asComment)].join('\n').trimEnd() + '\n';
}

/** An alias before its anchor is no YAML: such a file keeps its order of keys. */
function followAnchors(document: Document.Parsed): boolean {
  const anchors = new Set<string>();
  let isInOrder = true;
  visit(document, {
    Alias: (_, alias) => {
      isInOrder &&= anchors.has(alias.source);
    },
    Node: (_, node) => {
      if (!isAlias(node) && node.anchor !== undefined) anchors.add(node.anchor);
    },
  });
  return isInOrder;
}

function asComment(line: string): string {
  return line === '' ? '' : `#${line}`.trimEnd();
}

function commentTexts(text: string): readonly string[] {
  const read = readYamlDocument(text);
  return read.kind === 'too_deep'
    ? []
    : commentsOf(read.tokens)
        .map((comment) => comment.text)
        .sort();
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
  const tree = parseYaml(report);
  return tree === null || report.hasErrors()
    ? { diagnostics: report.diagnostics() }
    : { tree, text: decoded.text };
}

/** Long lines stay as they are: a line break in a text is the author's business. */
function printed(document: Document.Parsed): string {
  document.directives.docEnd = false;
  const options = { lineWidth: 0, indent: 2, indentSeq: true, flowCollectionPadding: true } as const;
  return document.toString({ ...options, directives: false }).replace(/\n$/, '');
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
function isModeline(line: string): boolean {
  return /^ (?:yaml-language-server:|\$schema:)/.test(line);
}

function takeModelines(contents: Node | null): readonly string[] {
  const first = isMap(contents) ? contents.items[0]?.key : null;
  if (!isScalar(first) || typeof first.commentBefore !== 'string') return [];
  const lines = first.commentBefore.split('\n');
  const others = lines.filter((line) => !isModeline(line));
  first.commentBefore = others.length === 0 ? null : others.join('\n');
  return lines.filter(isModeline);
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
