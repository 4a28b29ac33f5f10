/**
 * No file imports itself through others, by value or by type.
 */
import { importGraph } from '../syntax.ts';
import { isCode, type Tree, type Violation } from '../tree.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

export function cycles(tree: Tree): readonly Violation[] {
  const graph = importGraph(
    tree,
    tree.filter((file) => isCode(file.path)),
  );
  const reported = new Set<string>();
  return [...graph.keys()].sort().flatMap((start) => {
    if (reported.has(start)) return [];
    const cycle = shortestCycle(graph, start);
    if (cycle === null) return [];
    for (const name of cycle) reported.add(name);
    const path = [...cycle, start].join(' → ');
    return [`${start}: import cycle ${path}; move what both need into a file of its own`];
  });
}

/** Breadth first from `start` back to `start`; null when it is on no cycle. */
function shortestCycle(graph: Graph, start: string): readonly string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    for (const next of graph.get(name) ?? []) {
      if (next === start) return pathTo(name, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, name);
      queue.push(next);
    }
  }
  return null;
}

function pathTo(name: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const path = [name];
  for (let at = cameFrom.get(name); at !== undefined; at = cameFrom.get(at)) path.unshift(at);
  return path;
}
