/**
 * `parley simulate`: what a job or a scenario would do, on a virtual clock; nothing is run.
 * Owns the flags and which of them go together; what they do is in cli/simulate/.
 */
import { defined } from '../../dsl/defined.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, collected, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { Shell } from '../../host/shell.ts';
import type { InputOptions } from '../job/given-inputs.ts';
import { isScenarioFile } from '../simulate/document-kind.ts';
import { readSeed, readSeeds, readUntil } from '../simulate/play-request.ts';
import { printRecording, recordingFrom, recordRun } from '../simulate/replay.ts';
import { simulateJob } from '../simulate/simulate-job.ts';

interface SimulateOptions extends InputOptions, Flags {
  readonly seed?: string;
  readonly until?: string;
  readonly html?: string;
  readonly sweep?: readonly string[];
  readonly whatIf?: readonly string[];
  readonly seeds?: string;
  readonly record?: string;
  readonly out?: string;
  readonly replay?: string;
  readonly trace?: string;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('simulate')
    .description(
      'Play a job on a virtual clock: when, on how many sandboxes, at what cost, who meets a limit.',
    )
    .argument('[file]', 'job file, scenario file, or saved plan; none to record only')
    .option('--seed <n>', 'the same seed gives the same answer (default: 1, or that of the scenario)')
    .option('--until <time>', 'virtual time at most (default: 30d, or that of the scenario)')
    .option('--html <file>', 'write a page with timeline and curves')
    .option('--sweep <key=a,b,c>', 'play every value; given again, every combination', collected)
    .option('--what-if <key=value>', 'play with a change too, and compare; can be given again', collected)
    .option('--seeds <n>', 'plays of each combination of --sweep or --what-if (default: 1)')
    .option('--record <run>', 'read from a run what things took, and play that')
    .option('--out <file>', 'write what --record read')
    .option('--replay <file|run>', 'play what was recorded, from a file or from a run')
    .option('--trace <file>', 'write every step as one JSON line')
    .shares('json', 'config', 'inputs')
    .says(
      'Exit codes: 0 simulated, 1 the file has errors, 2 a file cannot be read or written, 8 an expectation of the scenario failed.',
    )
    .examples(
      'parley simulate job.yaml --html simulation.html',
      'parley simulate job.yaml --sweep limits.idle_time=300,1200 --sweep capacity.sandboxes=5,10 --seeds 20',
      'parley simulate job.yaml --what-if admission.concurrency=20',
      'parley simulate --record first-batch-20261121t043105-9f3c --out recording.json',
      'parley simulate job.yaml --replay recording.json --seed 7 --until 2d --trace trace.jsonl',
    )
    .action(ends((file: string | undefined, options: SimulateOptions) => simulate(shell, file, options)));
}

async function simulate(shell: Shell, file: string | undefined, options: SimulateOptions): Promise<ExitCode> {
  const { config, out, record, replay, trace, html, sweep = [], whatIf = [] } = options;
  const json = options.json === true;
  const seed = readSeed(options.seed);
  const untilMs = readUntil(options.until);
  const seeds = readSeeds(options.seeds);
  if (record !== undefined && replay !== undefined)
    throw new CliError('Cannot simulate: --record reads a run, --replay plays one; give one of them');
  if (out !== undefined && record === undefined)
    throw new CliError('Cannot write a recording: --out needs the run that --record names');
  if (file === undefined) return recordOnly(shell, options);
  if (isScenarioFile(file, shell.cwd)) {
    refuseForScenario(options);
    const { simulateScenario } = await import('../simulate/scenario.ts');
    return simulateScenario(shell, { file, json, ...defined({ seed, untilMs, trace, html, config }) });
  }
  const source = record ?? replay;
  const recording =
    record !== undefined
      ? await recordRun(shell, { run: record, config, out: out ?? null })
      : source === undefined
        ? null
        : await recordingFrom(shell, { source, config });
  const request = {
    file,
    config,
    seed,
    untilMs,
    seeds,
    sweep,
    whatIf,
    recording,
    trace,
    html,
    json,
    inputs: options,
  };
  return simulateJob(shell, request);
}

async function recordOnly(shell: Shell, { record, out, config, json }: SimulateOptions): Promise<ExitCode> {
  if (record === undefined)
    throw new CliError('Cannot simulate: no file is named', {
      remedy: 'name a job file, a scenario file or a saved plan',
    });
  const recording = await recordRun(shell, { run: record, config, out: out ?? null });
  printRecording(shell, recording, json === true);
  return EXIT.ok;
}

/** A scenario says itself what is played. */
function refuseForScenario({ sweep = [], whatIf = [], seeds, record, replay }: SimulateOptions): void {
  const flags = [
    ['--sweep', sweep.length > 0],
    ['--what-if', whatIf.length > 0],
    ['--seeds', seeds !== undefined],
    ['--record', record !== undefined],
    ['--replay', replay !== undefined],
  ] as const;
  const flag = flags.find(([, isGiven]) => isGiven)?.[0];
  if (flag !== undefined)
    throw new CliError(`Cannot use ${flag} with a scenario: it is for jobs`, {
      remedy: 'change policy and model in the scenario file',
    });
}
