/**
 * `parley test`: scenario files as tests of a policy.
 * Owns flags, order and exit code; what a report looks like is in cli/scenario/.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Option } from 'commander';
import { reasonOf } from '../../host/job/job-file.ts';
import type { Deployment } from '../../ports/deployment.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { countVerdicts, verdictLine } from '../scenario/expectation-words.ts';
import { saysScenario } from '../simulate/document-kind.ts';
import { junitXml, type Tested, testReporter } from '../scenario/test-reporter.ts';
import { type LoadedScenario, readScenario } from '../scenario/load-scenario.ts';
import { playLoaded } from '../scenario/play-loaded.ts';
import type { PlayOn } from '../scenario/play-on-temporal.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { readSeed, readSeeds } from '../simulate/play-request.ts';
import { writeOutput } from '../simulate/answer-files.ts';

interface TestOptions extends Flags {
  readonly seed?: string;
  readonly seeds?: string;
  readonly filter?: string;
  readonly junit?: string;
  readonly engine: 'simulator' | 'temporal';
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('test')
    .description('Play scenario files as tests of a policy, and print TAP.')
    .argument('<paths...>', 'scenario files, or folders that hold some')
    .option('--seed <n>', 'instead of the seed of each scenario')
    .option('--seeds <n>', 'plays of each scenario, each under the next seed (default: 1)')
    .option('--filter <text>', 'only scenarios whose path or name contains it')
    .option('--junit <file>', 'write JUnit XML too')
    .addOption(
      new Option('--engine <kind>', 'what drives the machines')
        .choices(['simulator', 'temporal'])
        .default('simulator'),
    )
    .shares('json', 'config')
    .says(
      'Exit codes: 0 all expectations held, 1 a file has errors, 2 nothing was found or a file cannot be written, 8 an expectation failed.',
    )
    .examples('parley test policies', 'parley test policies --seeds 20 --junit policies.xml')
    .action(ends((paths: readonly string[], options: TestOptions) => test(shell, paths, options)));
}

async function test(shell: Shell, paths: readonly string[], options: TestOptions): Promise<ExitCode> {
  const seed = readSeed(options.seed);
  const seeds = readSeeds(options.seeds);
  const { config, filter = '', junit, engine } = options;
  const { deployment } = await openDeployment(shell, { path: config, startsProxy: false });
  const loaded = findScenarios(shell.cwd, paths)
    .map((file) => readScenario(shell, { file, config }))
    .filter(({ file, scenario }) => file.includes(filter) || scenario?.name.includes(filter) === true);
  for (const { findings } of loaded) shell.stderr.write(findings);
  if (loaded.length === 0) throw nothingFound(paths, filter);
  const play = await playOn(engine, loaded);
  const reporter = testReporter(shell.stdout, { json: options.json === true });
  reporter.begin(loaded.reduce((count, { scenario }) => count + (scenario === null ? 1 : seeds), 0));
  const tested: Tested[] = [];
  for (const one of loaded) {
    for (const each of playsOf(one, { deployment, seed, seeds, play })) {
      tested.push(each);
      reporter.add(each);
      shell.stderr.write(printable(`${progressOf(each)}\n`));
    }
  }
  if (junit !== undefined) writeOutput(shell, { what: 'JUnit report', file: junit, text: junitXml(tested) });
  return exitCodeOf(tested);
}

interface Plays {
  readonly play: PlayOn;
  readonly deployment: Deployment;
  readonly seed: number | undefined;
  readonly seeds: number;
}

/** Each under the seed of the command line, or its own, and those that follow. */
function* playsOf({ file, text, scenario }: LoadedScenario, plays: Plays): Iterable<Tested> {
  if (scenario === null) {
    yield { kind: 'bad', file, problem: 'the scenario has errors' };
    return;
  }
  const first = plays.seed ?? scenario.seed;
  for (let seed = first; seed < first + plays.seeds; seed += 1) {
    const answer = plays.play(scenario, plays.deployment, seed);
    yield { kind: 'played', file, text, scenario, answer };
  }
}

/** Temporal's packages are loaded only for that engine. */
async function playOn(engine: TestOptions['engine'], loaded: readonly LoadedScenario[]): Promise<PlayOn> {
  if (engine === 'simulator')
    return (scenario, deployment, seed) => playLoaded(scenario, deployment, { seed });
  const { playOnTemporal, refuseFaults } = await import('../scenario/play-on-temporal.ts');
  refuseFaults(loaded);
  return playOnTemporal;
}

function progressOf(tested: Tested): string {
  if (tested.kind === 'bad') return `${tested.file}: ${tested.problem}`;
  const { file, answer } = tested;
  return `${file}: seed ${answer.seed}: ${verdictLine(countVerdicts(answer.expectations))}`;
}

/** A scenario with errors comes before one that failed. */
function exitCodeOf(tested: readonly Tested[]): ExitCode {
  if (tested.some(({ kind }) => kind === 'bad')) return EXIT.failed;
  const hasFailed = (one: Tested): boolean =>
    one.kind === 'played' && countVerdicts(one.answer.expectations).failed > 0;
  return tested.some(hasFailed) ? EXIT.expectationFailed : EXIT.ok;
}

function nothingFound(paths: readonly string[], filter: string): CliError {
  const where = paths.map((one) => `"${one}"`).join(', ');
  const which = filter === '' ? '' : ` whose path or name contains "${filter}"`;
  return new CliError(`Cannot test: there is no scenario${which} in ${where}`, {
    remedy: 'a scenario is a YAML file with "kind: scenario"; docs/policy-tests.md shows one',
  });
}

/** A folder with more files is no folder of tests: the user named the wrong one. */
const FILES_MAX = 10_000;
/** A larger file is data; a scenario is written by hand. */
const BYTES_MAX = 10 * 1024 * 1024;
const SCENARIO_NAME = /\.scenario\.ya?ml$/;
const YAML_NAME = /\.ya?ml$/;

/** Paths as typed, or below what was typed; sorted within each, without repeats. @throws CliError when one cannot be read */
function findScenarios(cwd: string, named: readonly string[]): readonly string[] {
  const found = named.flatMap((name) => scenariosAt(cwd, name));
  return [...new Set(found)];
}

function scenariosAt(cwd: string, name: string): string[] {
  try {
    return statSync(path.resolve(cwd, name)).isDirectory() ? below(cwd, name) : [name];
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`Cannot test "${name}": ${reasonOf(error)}`, {
      remedy: 'name scenario files, or folders that hold some',
    });
  }
}

function below(cwd: string, folder: string): string[] {
  const absolute = path.resolve(cwd, folder);
  const names = walk(absolute).sort();
  return names
    .filter((name) => SCENARIO_NAME.test(name) || (YAML_NAME.test(name) && holdsScenario(name)))
    .map((name) => path.join(folder, path.relative(absolute, name)));
}

/** Folders that begin with a dot, and installed packages, hold no tests of the user. */
function walk(root: string): string[] {
  const files: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const name = path.join(folder, entry.name);
      if (entry.isFile()) files.push(name);
      if (files.length > FILES_MAX)
        throw new CliError(`Cannot test "${root}": it holds more than ${FILES_MAX} files`);
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        folders.push(name);
    }
  }
  return files;
}

function holdsScenario(file: string): boolean {
  return statSync(file).size <= BYTES_MAX && saysScenario(readFileSync(file, 'utf8'));
}
