/**
 * The parser's document as a positioned tree.
 * Owns what is refused on the way: merge keys, tags, keys that are not text, aliases without end.
 * maxAliasCount of the parser guards its own conversion only, so the bound is kept here.
 */
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Alias, Document, Node, Pair, Scalar, YAMLMap } from 'yaml';

import { quote } from './quote.ts';
import type { Report } from '../check/report.ts';
import type { Span } from './text-position.ts';
import type { Tree, TreeEntry, TreeScalar } from './tree.ts';
import { DEPTH_MAX } from '../yaml-document.ts';

/** Nodes that aliases may add to a file: plenty for shared tags in a thousand conversations, nothing for a bomb. */
const ALIASED_NODES_MAX = 100_000;
/** Characters that they may add: a prompt of a page in ten thousand conversations; a long text is a bomb as well. */
const ALIASED_CHARS_MAX = 64 * 1024 * 1024;

/** What was built, those behind aliases counted each time. */
interface Size {
  readonly nodes: number;
  readonly chars: number;
}

interface Anchored {
  readonly tree: Tree;
  readonly size: Size;
  /** Levels below it. */
  readonly height: number;
}

interface Build {
  readonly report: Report;
  /** Anchored nodes that were built, with their size when written out. */
  readonly anchors: Map<string, Anchored>;
  size: Size;
  aliased: Size;
  /** The deepest level of what is being built. */
  deepest: number;
  refused: boolean;
}

const NOTHING: Size = { nodes: 0, chars: 0 };

/** Returns null when something was refused that makes every later message guesswork. */
export function buildTree(document: Document.Parsed, report: Report): Tree | null {
  const anchors = new Map<string, Anchored>();
  const build: Build = { report, anchors, size: NOTHING, aliased: NOTHING, deepest: 0, refused: false };
  const tree = buildNode(build, document.contents, { start: 0, end: 0 }, 0);
  return build.refused ? null : tree;
}

function buildNode(build: Build, node: Node | null, fallback: Span, depth: number): Tree {
  const span = spanOf(node, fallback);
  if (depth > DEPTH_MAX) return refuse(build, span, 'JOB119', TOO_DEEP);
  if (isAlias(node)) return resolveAlias(build, node, { span, depth });
  if (node?.tag !== undefined) refuseTag(build, span);
  const { size: before, deepest } = build;
  build.deepest = depth;
  const tree = buildPlain(build, node, span, depth);
  grow(build, { nodes: 1, chars: tree.kind === 'scalar' ? tree.source.length : 0 });
  const height = build.deepest - depth;
  build.deepest = Math.max(deepest, build.deepest);
  if (node?.anchor !== undefined) {
    const size = { nodes: build.size.nodes - before.nodes, chars: build.size.chars - before.chars };
    build.anchors.set(node.anchor, { tree, size, height });
  }
  return tree;
}

const TOO_DEEP = `this nests more than ${DEPTH_MAX} levels deep`;

function grow(build: Build, by: Size): void {
  build.size = sum(build.size, by);
}

function sum(one: Size, other: Size): Size {
  return { nodes: one.nodes + other.nodes, chars: one.chars + other.chars };
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
    grow(build, { nodes: 0, chars: key.length });
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
  if (isAlias(key)) return aliasedKey(build, key, span);
  if (key?.tag !== undefined) refuseTag(build, span);
  if (isScalar(key) && typeof key.source === 'string' && key.source !== '') {
    if (key.anchor !== undefined) build.anchors.set(key.anchor, anchoredKey(key, span));
    if (key.source === '<<') return refuseMerge(build, span);
    if (key.source !== '__proto__') return key.source;
  }
  return refuseKey(build, span);
}

function anchoredKey(key: Scalar, span: Span): Anchored {
  const tree = buildScalar(key, span);
  return { tree, size: { nodes: 1, chars: tree.source.length }, height: 0 };
}

function aliasedKey(build: Build, key: Alias, span: Span): string | null {
  const tree = resolveAlias(build, key, { span, depth: 0 });
  if (build.refused) return null;
  const isText = tree.kind === 'scalar' && tree.source !== '' && tree.source !== '__proto__';
  return isText ? tree.source : refuseKey(build, span);
}

function refuseKey(build: Build, span: Span): null {
  const { text } = build.report;
  const braces = text.startsWith('{{', span.start) || text.startsWith('{{', span.start - 1);
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

function resolveAlias(
  build: Build,
  alias: Alias,
  { span, depth }: { readonly span: Span; readonly depth: number },
): Tree {
  const target = build.anchors.get(alias.source);
  if (target === undefined) {
    const message = `no anchor ${quote(alias.source)} is complete before this alias`;
    const remedy = 'define it first with "&name"; a value with a leading * needs quotes';
    return refuse(build, span, 'JOB115', message, remedy);
  }
  grow(build, target.size);
  build.aliased = sum(build.aliased, target.size);
  build.deepest = Math.max(build.deepest, depth + target.height);
  if (build.deepest > DEPTH_MAX) return refuse(build, span, 'JOB119', TOO_DEEP);
  if (build.aliased.nodes > ALIASED_NODES_MAX)
    return refuse(build, span, 'JOB116', `aliases grow this file beyond ${ALIASED_NODES_MAX} values`);
  if (build.aliased.chars > ALIASED_CHARS_MAX)
    return refuse(build, span, 'JOB116', `aliases grow this file beyond ${ALIASED_CHARS_MAX} characters`);
  return target.tree;
}

/** Between a tag and its value stand blanks, comments and an anchor, or nothing. */
const LAST_TAG = /(!(?:<[^>\s]*>|[^\s,[\]{}]*))(?:\s+(?:&\S+|#[^\n]*(?=\n)))*\s*$/;
/** A tag stands near its value: what is further off is not looked at. */
const TAG_DISTANCE_MAX = 1_000;

/** Unknown tags are warnings of the parser and have been reported; `!!str` and its kind pass there. */
function refuseTag(build: Build, span: Span): void {
  const from = Math.max(0, span.start - TAG_DISTANCE_MAX);
  const found = LAST_TAG.exec(build.report.text.slice(from, span.start));
  const tag = found?.[1] ?? '';
  const start = found === null ? span.start : from + found.index;
  const message = `${quote(tag)} is a YAML tag, which the ${build.report.language.document} language does not use`;
  build.report.add('JOB114', { start, end: start + tag.length }, message, { remedy: 'remove the tag' });
}

function refuse(
  build: Build,
  span: Span,
  code: 'JOB115' | 'JOB116' | 'JOB119',
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
