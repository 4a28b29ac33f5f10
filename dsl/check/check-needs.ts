/**
 * Stages, and rows that one writes for another: each awaited entry exists, and none waits for itself, even indirectly.
 * Owns the walk along `needs`; must not know what waiting does to a run.
 */
import type { Span } from '../read/text-position.ts';
import { didYouMean } from './nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { FindingExtra } from './report.ts';
import { childOf, itemsOf, textOf, type Tree } from '../read/tree.ts';
import { conversationsOf, type CheckContext } from './check-context.ts';

interface Edge {
  readonly to: string;
  readonly tree: Tree;
}

export function checkNeeds({ root, report }: Pick<CheckContext, 'root' | 'report'>): void {
  const edges = new Map<string, readonly Edge[]>();
  for (const { id, tree } of conversationsOf(root)) if (id !== null) edges.set(id, edgesOf(tree));
  for (const needed of edges.values()) {
    for (const { to, tree } of needed) {
      if (edges.has(to)) continue;
      report.add('JOB331', tree.span, `no conversation has the id ${quote(to)}`, {
        remedy: didYouMean(to, [...edges.keys()], 'write the id of another conversation'),
      });
    }
  }
  for (const circle of circlesOf(edges)) {
    const names = [...circle.map(({ to }) => to), circle[0]?.to ?? ''];
    const last = circle.at(-1) as Edge;
    report.add('JOB332', last.tree.span, `conversations wait for each other: ${names.join(' -> ')}`, {
      remedy: 'remove one of the needs',
    });
  }
}

function edgesOf(conversation: Tree): readonly Edge[] {
  const named = itemsOf(childOf(conversation, 'needs')).map((need) => childOf(need, 'entry'));
  const from = childOf(childOf(conversation, 'items'), 'from');
  return [...named, from].flatMap((tree) => {
    const to = textOf(tree);
    return tree === undefined || to === null ? [] : [{ to, tree }];
  });
}

/** Each circle once, from where it is first met. */
function circlesOf(edges: ReadonlyMap<string, readonly Edge[]>): readonly (readonly Edge[])[] {
  const circles: (readonly Edge[])[] = [];
  const done = new Set<string>();
  const walk = (id: string, path: readonly Edge[]): void => {
    const at = path.findIndex(({ to }) => to === id);
    if (at >= 0 && at < path.length - 1) {
      circles.push(path.slice(at + 1));
      return;
    }
    if (done.has(id)) return;
    for (const edge of edges.get(id) ?? []) if (edges.has(edge.to)) walk(edge.to, [...path, edge]);
    done.add(id);
  };
  for (const [id, needed] of edges) if (needed[0] !== undefined) walk(id, [{ to: id, tree: needed[0].tree }]);
  return circles;
}

/** Ids of conversations are unique, and so are names of scores and files of reports. */
export function checkIds({ root, report }: CheckContext): void {
  const ids = itemsOf(childOf(root, 'conversations')).map((tree) => childOf(tree, 'id'));
  for (const { text, span, related } of repeated(ids)) {
    const remedy = 'ids are unique in a job';
    report.add('JOB301', span, `the id ${quote(text)} is taken`, { remedy, related });
  }
  for (const entry of itemsOf(childOf(root, 'conversations'))) checkScores(entry, report);
  checkScores(childOf(root, 'defaults'), report);
  const files = itemsOf(childOf(root, 'report')).map((tree) => childOf(tree, 'to'));
  for (const { text, span, related } of repeated(files))
    report.add('JOB312', span, `a report is written to ${quote(text)} already`, { related });
}

function checkScores(tree: Tree | undefined, report: CheckContext['report']): void {
  const names = itemsOf(childOf(tree, 'scores')).map((score) => childOf(score, 'name'));
  for (const { text, span, related } of repeated(names)) {
    const remedy = 'names of scores are unique in a conversation';
    report.add('JOB301', span, `the name ${quote(text)} is taken`, { remedy, related });
  }
}

interface Repeated extends Required<Pick<FindingExtra, 'related'>> {
  readonly text: string;
  readonly span: Span;
}

/** Texts that stood before in the list, each with the place of the first. */
export function repeated(trees: readonly (Tree | undefined)[]): Repeated[] {
  const seen = new Map<string, Span>();
  return trees.flatMap((tree) => {
    const text = textOf(tree);
    if (tree === undefined || text === null) return [];
    const first = seen.get(text);
    if (first === undefined) seen.set(text, tree.span);
    if (first === undefined) return [];
    return [{ text, span: tree.span, related: [{ span: first, message: 'first here' }] }];
  });
}
