/**
 * A plan as a graph of stages, and a graph as text for Mermaid and Graphviz.
 * Owns stages, edges and the escaping of both forms; a stage stands for all conversations of one entry.
 */
import type { Plan } from '../../core/plan/plan.ts';

export interface Stage {
  /** Unique in the graph, and a word of both forms. */
  readonly node: string;
  /** Id of the entry, or what the run does after its conversations. */
  readonly name: string;
  /** Conversations; null for what the run does. */
  readonly count: number | null;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** How the one waits for the other; empty for the plain way. */
  readonly says: string;
}

export interface PlanGraph {
  readonly stages: readonly Stage[];
  readonly edges: readonly Edge[];
}

export function planGraph({ items, collect, deliver, cleanup, reconcile, report }: Plan): PlanGraph {
  const entries = new Map<
    string,
    { count: number; readonly needs: NonNullable<Plan['items'][0]['needs']> }
  >();
  for (const { entry, needs = [] } of items) {
    const known = entries.get(entry);
    if (known === undefined) entries.set(entry, { count: 1, needs });
    else known.count += 1;
  }
  const nodes = new Map([...entries.keys()].map((name, index) => [name, `s${index}`]));
  const stages: Stage[] = [...entries].map(([name, { count }]) => ({
    node: nodes.get(name) ?? '',
    name,
    count,
  }));
  const edges: Edge[] = [...entries].flatMap(([name, { needs }]) =>
    needs.map(({ entry, outcome, each }) => ({
      from: nodes.get(entry) ?? '',
      to: nodes.get(name) ?? '',
      says: [...(each ? ['each'] : []), ...(outcome === 'succeeded' ? [] : [outcome])].join(', '),
    })),
  );
  const waitedFor = new Set(edges.map(({ from }) => from));
  let last = stages.map(({ node }) => node).filter((node) => !waitedFor.has(node));
  const then = (name: string): void => {
    const node = `r${stages.filter(({ count }) => count === null).length}`;
    stages.push({ node, name, count: null });
    edges.push(...last.map((from) => ({ from, to: node, says: '' })));
    last = [node];
  };
  then(`collect ${collect.map(({ kind }) => kind).join(', ')}`);
  if (deliver !== undefined) then('deliver branches');
  then(`${cleanup.sandbox} sandboxes`);
  if (reconcile !== null) then('reconcile');
  if (report.length > 0) then(`report ${report.map(({ file }) => file).join(', ')}`);
  return { stages, edges };
}

const labelOf = ({ name, count }: Stage): string =>
  count === null || count === 1 ? name : `${name} × ${count}`;

export function mermaidGraph({ stages, edges }: PlanGraph): string {
  const text = (label: string): string => `"${label.replaceAll('"', '#quot;')}"`;
  const lines = [
    'flowchart LR',
    ...stages.map((stage) =>
      stage.count === null
        ? `  ${stage.node}(${text(labelOf(stage))})`
        : `  ${stage.node}[${text(labelOf(stage))}]`,
    ),
    ...edges.map(({ from, to, says }) =>
      says === '' ? `  ${from} --> ${to}` : `  ${from} -->|${text(says)}| ${to}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

export function dotGraph(name: string, { stages, edges }: PlanGraph): string {
  const text = (label: string): string => `"${label.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const lines = [
    `digraph ${text(name)} {`,
    '  rankdir=LR;',
    '  node [shape=box];',
    ...stages.map(
      (stage) =>
        `  ${stage.node} [label=${text(labelOf(stage))}${stage.count === null ? ', style=rounded' : ''}];`,
    ),
    ...edges.map(({ from, to, says }) => `  ${from} -> ${to}${says === '' ? '' : ` [label=${text(says)}]`};`),
    '}',
  ];
  return `${lines.join('\n')}\n`;
}
