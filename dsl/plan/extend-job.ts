/**
 * `extends`: a job on top of another file, which may itself extend one.
 * Owns the merge (maps key by key, everything else as a whole, an explicit null removes) and the chain of files;
 * append-lists.ts adds to lists.
 * Every value keeps its place in the file it came from.
 */
import { appendLists, refuseAppend } from '../append-lists.ts';
import { decodeSource } from '../read/decode-source.ts';
import { folderOf, joinPath } from '../local-path.ts';
import { parseYaml } from '../read/parse-yaml.ts';
import { quote } from '../read/quote.ts';
import { createReport, type Report } from '../check/report.ts';
import { LOCAL_PATH } from '../schema/text-rule.ts';
import {
  childOf,
  entryOf,
  textNode,
  textOf,
  type Tree,
  type TreeEntry,
  type TreePath,
} from '../read/tree.ts';
import type { JobWorld } from '../world.ts';

/** A longer chain hides where a value comes from. */
const CHAIN_MAX = 5;

interface ExtendContext {
  readonly report: Report;
  readonly world: Pick<JobWorld, 'readFile'>;
}

/** The whole job; null when a file that it builds on cannot be read, and the report says why. */
export function extendJob(root: Tree, { report, world }: ExtendContext): Tree | null {
  const own = report.fileAt(0);
  return extendFrom(root, { report, world, folder: '', shown: folderOf(own), chain: [baseName(own)] });
}

interface Chain extends ExtendContext {
  /** Folder of the file, relative to the job. */
  readonly folder: string;
  /** Folder of the job, as it is shown. */
  readonly shown: string;
  /** Paths of the files so far, relative to the folder of the job. */
  readonly chain: readonly string[];
}

function extendFrom(tree: Tree, chain: Chain): Tree | null {
  const written = childOf(tree, 'extends');
  const path = textOf(written);
  // What is no path at all is a finding of the schema.
  if (written === undefined) return refuseAppend(tree, chain.report);
  if (path === null || !LOCAL_PATH.pattern.test(path)) return tree;
  const target = joinPath(chain.folder, path);
  if (!mayFollow(written, target, chain)) return null;
  const parent = readParent(written, target, chain);
  if (parent === null) return null;
  const folder = folderOf(target);
  const below = extendFrom(parent, { ...chain, folder, chain: [...chain.chain, target] });
  if (below === null) return null;
  const inherited = withPaths(below, chain.folder, folder);
  return appendLists({ own: tree, inherited, merged: merge(tree, inherited) }, chain.report);
}

function mayFollow(written: Tree, target: string, { report, chain }: Chain): boolean {
  if (chain.includes(target)) {
    const circle = [...chain.slice(chain.indexOf(target)), target].join(' → ');
    report.add('JOB320', written.span, `this file builds on itself: ${circle}`, {
      remedy: 'remove one "extends"',
    });
    return false;
  }
  if (chain.length <= CHAIN_MAX) return true;
  report.add('JOB320', written.span, `more than ${CHAIN_MAX} files build on each other`, {
    remedy: 'put shared settings into fewer files',
  });
  return false;
}

function readParent(written: Tree, target: string, { report, world, shown }: Chain): Tree | null {
  const read = world.readFile(target);
  if ('problem' in read) {
    const missing = read.problem === 'missing';
    const message = missing ? 'does not exist' : 'is no text that can be read';
    report.add(missing ? 'JOB303' : 'JOB305', written.span, `the file ${quote(target)} ${message}`, {
      remedy: 'paths are relative to the file that names them',
    });
    return null;
  }
  const path = joinPath(shown, target);
  const decoded = decodeSource(read.text);
  const own = createReport(path, decoded.ok ? decoded.text : '', report.language);
  if (!decoded.ok) own.add(decoded.code, { start: 0, end: 0 }, decoded.message, { remedy: decoded.remedy });
  const tree = decoded.ok ? parseText(own) : null;
  const start = report.append(path, own.text);
  report.adopt(own.diagnostics());
  return tree === null ? null : moved(tree, start);
}

function parseText(report: Report): Tree | null {
  const tree = parseYaml(report);
  if (tree === null || tree.kind === 'map') return tree;
  report.add('JOB203', tree.span, 'a job is a map of keys', { remedy: report.language.head });
  return null;
}

function moved(tree: Tree, by: number): Tree {
  const span = { start: tree.span.start + by, end: tree.span.end + by };
  switch (tree.kind) {
    case 'scalar':
      return { ...tree, span };
    case 'list':
      return { ...tree, span, items: tree.items.map((item) => moved(item, by)) };
    case 'map':
      return { ...tree, span, entries: tree.entries.map((entry) => movedEntry(entry, by)) };
  }
}

function movedEntry({ key, keySpan, value }: TreeEntry, by: number): TreeEntry {
  return { key, keySpan: { start: keySpan.start + by, end: keySpan.end + by }, value: moved(value, by) };
}

/** Keys of the parent first, so that axes keep their order; `extends` is the file's own. */
function merge(own: Tree, parent: Tree): Tree {
  if (own.kind !== 'map' || parent.kind !== 'map') return own;
  const inherited = parent.entries.flatMap((entry) => {
    if (entry.key === 'extends') return [];
    const mine = entryOf(own, entry.key);
    if (mine === undefined) return [entry];
    return isNull(mine.value) ? [] : [{ ...mine, value: merge(mine.value, entry.value) }];
  });
  const added = own.entries.filter(({ key }) => key === 'extends' || entryOf(parent, key) === undefined);
  return { ...own, entries: [...inherited, ...added] };
}

/** Written out: a key whose value was forgotten removes nothing. */
function isNull(tree: Tree): boolean {
  return tree.kind === 'scalar' && tree.value === null && tree.source !== '';
}

/** Where a job names files; every other text is left alone, whatever it looks like. */
const FILE_PLACES: readonly TreePath[] = [
  ['conversations', '*', 'prompt', 'file'],
  ['conversations', '*', 'items', 'csv'],
  ['conversations', '*', 'items', 'jsonl'],
  ['conversations', '*', 'items', 'glob'],
  ['conversations', '*', 'items', 'glob', '*'],
];

/** Paths of another folder, as they are from this one. */
function withPaths(tree: Tree, from: string, folder: string): Tree {
  if (folder === from) return tree;
  return FILE_PLACES.reduce(
    (current, place) => pathAt(current, place, from === '' ? folder : relative(from, folder)),
    tree,
  );
}

/** Folders are relative to the job, so the way up is as long as the way down. */
function relative(from: string, to: string): string {
  return joinPath(
    from
      .split('/')
      .map(() => '..')
      .join('/'),
    to,
  );
}

function pathAt(tree: Tree, [step, ...rest]: TreePath, folder: string): Tree {
  if (step === undefined) {
    const path = textOf(tree);
    return path === null || !LOCAL_PATH.pattern.test(path)
      ? tree
      : textNode(joinPath(folder, path), tree.span);
  }
  if (step === '*')
    return tree.kind === 'list'
      ? { ...tree, items: tree.items.map((item) => pathAt(item, rest, folder)) }
      : tree;
  if (tree.kind !== 'map') return tree;
  const entries = tree.entries.map((entry) =>
    entry.key === step ? { ...entry, value: pathAt(entry.value, rest, folder) } : entry,
  );
  return { ...tree, entries };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
