/**
 * `parley graph`: the stages of a job as a diagram, for pages that draw one.
 * Owns the choice of the form; the drawing is in print/plan-graph.ts.
 */
import { Command, Option } from 'commander';
import { configOption, examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { addInputOptions, type InputOptions } from '../job/given-inputs.ts';
import { loadPlan } from '../job/load-plan.ts';
import { openRecords } from '../../host/records.ts';
import { dotGraph, mermaidGraph, planGraph } from '../print/plan-graph.ts';
import type { Shell } from '../../host/shell.ts';

const FORMATS = ['mermaid', 'dot'] as const;

interface GraphOptions extends InputOptions {
  readonly format: (typeof FORMATS)[number];
  readonly json?: true;
  readonly config?: string;
}

export function graphCommand({ shell, finish }: CommandContext): Command {
  const command = new Command('graph')
    .description('Draw the stages of a job: which conversations wait for which, and what follows.')
    .argument('<file>', 'job file, or a saved plan')
    .addOption(new Option('--format <format>', 'form of the diagram').choices(FORMATS).default('mermaid'))
    .option('--json', 'print stages and edges as one JSON record')
    .addOption(configOption())
    .addHelpText('after', '\nExit codes: 0 drawn, 1 the job has errors, 2 a file cannot be read.')
    .addHelpText(
      'after',
      examples('parley graph job.yaml', 'parley graph job.yaml --format dot | dot -Tsvg > job.svg'),
    )
    .action(async (file: string, options: GraphOptions) => {
      finish(await graph(shell, file, options));
    });
  return addInputOptions(command);
}

async function graph(shell: Shell, file: string, options: GraphOptions): Promise<ExitCode> {
  const plan = await loadPlan(shell, { file, config: options.config, checksSecrets: false, inputs: options });
  if (plan === null) return EXIT.failed;
  const drawn = planGraph(plan);
  if (options.json === true) openRecords(shell.stdout).write({ type: 'graph', name: plan.name, ...drawn });
  else shell.stdout.write(options.format === 'dot' ? dotGraph(plan.name, drawn) : mermaidGraph(drawn));
  return EXIT.ok;
}
