/**
 * The parser's document as a positioned tree.
 * Owns what is refused on the way: merge keys, tags, keys that are not text, aliases without end.
 * maxAliasCount of the parser guards its own conversion only, so the bound is kept here.
 */
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Alias, Document, Node, Pair, Scalar, YAMLMap } from 'yaml';

import { quote } from './quote.ts';
import type { Report } from './report.ts';
import type { Span } from './text-position.ts';
import type { Tree, TreeEntry, TreeScalar } from './tree.ts';

/** A file is six levels deep; user text adds none. */
const DEPTH_MAX = 64;
/** Nodes that aliases may add to a file: plenty for shared tags in a thousand conversations, nothing for a bomb. */
const ALIASED_NODES_MAX = 100_000;

interface Build {
  readonly document: Document.Parsed;
  readonly report: Report;
  /** Anchored nodes that were built, with their size when written out. */
  readonly anchors: Map<string, { readonly tree: Tree; readonly size: number }>;
  /** Nodes built so far, those behind aliases counted each time. */
  size: number;
  aliased: number;
  refused: boolean;
}

/** Returns null when something was refused that makes every later message guesswork. */
export function buildTree(document: Document.Parsed, report: Report): Tree | null {
  const build: Build = { document, report, anchors: new Map(), size: 0, aliased: 0, refused: false };
  const tree = buildNode(build, document.contents, { start: 0, end: 0 }, 0);
  return build.refused ? null : tree;
}

function buildNode(build: Build, node: Node | null, fallback: Span, depth: number): Tree {
  const span = spanOf(node, fallback);
  if (depth > DEPTH_MAX)
    return refuse(build, span, 'JOB119', `this nests more than ${DEPTH_MAX} levels deep`);
  if (isAlias(node)) return resolveAlias(build, node, span);
  if (node?.tag !== undefined) refuseTag(build, span);
  const before = build.size;
  build.size += 1;
  const tree = buildPlain(build, node, span, depth);
  const anchor = node?.anchor;
  if (anchor !== undefined) build.anchors.set(anchor, { tree, size: build.size - before });
  return tree;
}

function buildPlain(build: Build, node: Node | null, span: Span, depth: number): Tree {
  if (isMap(node)) return { kind: 'map', span, entries: buildEntries(build, node, depth) };
  if (isSeq(node)) {
    const items = node.items.map((item) => buildNode(build, item as Node | null, span, depth + 1));
    return { kind: 'list', span, items };
  }
  return buildScalar(node, span);
}

function buildEntries(build: Build, map: YAMLMap, depth: number): TreeEntry[] {
  const entries = new Map<string, TreeEntry>();
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    const keySpan = spanOf(pair.key, spanOf(map, { start: 0, end: 0 }));
    const key = keyText(build, pair.key, keySpan);
    if (key === null) continue;
    const first = entries.get(key);
    const afterKey = { start: keySpan.end, end: keySpan.end };
    if (first !== undefined) addDuplicate(build.report, { key, span: keySpan, first: first.keySpan });
    else entries.set(key, { key, keySpan, value: buildNode(build, pair.value, afterKey, depth + 1) });
  }
  return [...entries.values()];
}

function addDuplicate(
  report: Report,
  { key, span, first }: { readonly key: string; readonly span: Span; readonly first: Span },
): void {
  report.add('JOB109', span, `the key ${quote(key)} stands twice in this map`, {
    remedy: 'keep one of the two',
    related: [{ span: first, message: 'first here' }],
  });
}

function keyText(build: Build, key: Node | null, span: Span): string | null {
  if (isScalar(key) && typeof key.source === 'string' && key.source !== '') {
    if (key.source === '<<') return refuseMerge(build, span);
    if (key.source !== '__proto__') return key.source;
  }
  const braces = build.report.text.startsWith('{', span.start);
  if (braces) {
    const remedy = "put the whole text in quotes: '…{{ … }}…', or write it as a block after |";
    build.report.add('JOB118', span, 'YAML reads unquoted braces as a map, not as text', { remedy });
  } else {
    build.report.add('JOB117', span, 'this key is not plain text', {
      remedy: 'a key is one word or one quoted text',
    });
  }
  build.refused = true;
  return null;
}

function refuseMerge(build: Build, span: Span): null {
  build.report.add('JOB113', span, 'the merge key "<<" is not part of YAML 1.2', {
    remedy: build.report.language.instead,
  });
  return null;
}

function resolveAlias(build: Build, alias: Alias, span: Span): Tree {
  const target = build.anchors.get(alias.source);
  if (target === undefined) {
    const message = `no anchor ${quote(alias.source)} is complete before this alias`;
    return refuse(
      build,
      span,
      'JOB115',
      message,
      'define it first with "&name"; a value with a leading * needs quotes',
    );
  }
  build.size += target.size;
  build.aliased += target.size;
  if (build.aliased > ALIASED_NODES_MAX) {
    return refuse(build, span, 'JOB116', `aliases grow this file beyond ${ALIASED_NODES_MAX} values`);
  }
  return target.tree;
}

/** Unknown tags are warnings of the parser and have been reported; `!!str` and its kind pass there. */
function refuseTag(build: Build, span: Span): void {
  const before = build.report.text.slice(0, span.start);
  const start = before.lastIndexOf('!', span.start) - (/!!\S*\s*$/.test(before.slice(-80)) ? 1 : 0);
  const tag = /^!\S*/.exec(build.report.text.slice(start, span.start))?.[0] ?? '';
  const message = `${quote(tag)} is a YAML tag, which the ${build.report.language.document} language does not use`;
  build.report.add('JOB114', { start, end: start + tag.length }, message, { remedy: 'remove the tag' });
}

type RefusalCode = 'JOB115' | 'JOB116' | 'JOB119';

function refuse(
  build: Build,
  span: Span,
  code: RefusalCode,
  message: string,
  remedy: string | null = null,
): TreeScalar {
  if (!build.refused) build.report.add(code, span, message, { remedy });
  build.refused = true;
  return { kind: 'scalar', span, value: null, source: '', plain: true };
}

function buildScalar(node: Node | null, span: Span): TreeScalar {
  if (!isScalar(node)) return { kind: 'scalar', span, value: null, source: '', plain: true };
  const scalar = node as Scalar;
  const value = scalar.value as TreeScalar['value'];
  const plain = scalar.type === 'PLAIN' || scalar.type === undefined;
  const source = plain ? (scalar.source ?? '') : String(value);
  return { kind: 'scalar', span, value, source, plain };
}

/** Block text ends with its last line break, which no caret should reach. */
function spanOf(node: Node | null | undefined, fallback: Span): Span {
  if (!node?.range) return fallback;
  return { start: node.range[0], end: node.range[1] };
}
