/**
 * `parley graph`: the stages of a job as a diagram, for pages that draw one.
 * Owns the choice of the form, and the drawing.
 */
import { Option } from 'commander';
import type { Plan } from '../../core/plan/plan.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { InputOptions } from '../job/given-inputs.ts';
import { loadPlan } from '../job/load-plan.ts';
import { openRecords } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';

const FORMATS = ['mermaid', 'dot'] as const;

interface GraphOptions extends InputOptions, Flags {
  readonly format: (typeof FORMATS)[number];
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('graph')
    .description('Draw the stages of a job: which conversations wait for which, and what follows.')
    .argument('<file>', 'job file, or a saved plan')
    .addOption(new Option('--format <format>', 'form of the diagram').choices(FORMATS).default('mermaid'))
    .option('--json', 'print stages and edges as one JSON record')
    .shares('config', 'inputs')
    .says('Exit codes: 0 drawn, 1 the job has errors, 2 a file cannot be read.')
    .examples('parley graph job.yaml', 'parley graph job.yaml --format dot | dot -Tsvg > job.svg')
    .action(ends((file: string, options: GraphOptions) => graph(shell, file, options)));
}

async function graph(shell: Shell, file: string, options: GraphOptions): Promise<ExitCode> {
  const plan = await loadPlan(shell, { file, config: options.config, checksSecrets: false, inputs: options });
  if (plan === null) return EXIT.failed;
  const drawn = planGraph(plan);
  if (options.json === true) openRecords(shell.stdout).write({ type: 'graph', name: plan.name, ...drawn });
  else shell.stdout.write(options.format === 'dot' ? dotGraph(plan.name, drawn) : mermaidGraph(drawn));
  return EXIT.ok;
}

interface Stage {
  /** Unique in the graph, and a word of both forms. */
  readonly node: string;
  /** Id of the entry, or what the run does after its conversations. */
  readonly name: string;
  /** Conversations; null for what the run does. */
  readonly count: number | null;
}

interface Edge {
  readonly from: string;
  readonly to: string;
  /** How the one waits for the other; empty for the plain way. */
  readonly says: string;
}

interface PlanGraph {
  readonly stages: readonly Stage[];
  readonly edges: readonly Edge[];
}

/** A plan as a graph of stages, and a graph as text for Mermaid and Graphviz. */
function planGraph({ items, collect, deliver, cleanup, reconcile, report }: Plan): PlanGraph {
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

function mermaidGraph({ stages, edges }: PlanGraph): string {
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

function dotGraph(name: string, { stages, edges }: PlanGraph): string {
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
