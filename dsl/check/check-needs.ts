/**
 * Stages, and rows that one writes for another: every entry that is waited for exists, and nobody waits for itself, at whatever distance.
 * Owns the walk along `needs`; must not know what waiting does to a run.
 */
import { didYouMean } from './nearest-name.ts';
import { quote } from '../read/quote.ts';
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
