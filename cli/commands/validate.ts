/**
 * `parley validate`: every finding of job and scenario files, and nothing is run.
 * Owns formats and exit code; must load neither a runtime nor the store, so that it is quick enough for an editor.
 */
import { Option } from 'commander';
import { counted } from '../../core/text/counted.ts';
import { compileJob, type Compilation } from '../../dsl/compile-job.ts';
import type { JobSource } from '../../dsl/read/decode-source.ts';
import type { Diagnostic } from '../../dsl/check/diagnostic.ts';
import {
  DIAGNOSTIC_FORMATS,
  printDiagnostics,
  type DiagnosticFormat,
} from '../../dsl/check/print-diagnostics.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { defined } from '../../dsl/defined.ts';
import type { GivenInputs } from '../../dsl/world.ts';
import { givenInputs, type InputOptions } from '../job/given-inputs.ts';
import { jobWorld, readJobFile, shownText } from '../../host/job/job-file.ts';
import { listedModels, type ListedModels } from '../../host/job/listed-models.ts';
import type { Shell } from '../../host/shell.ts';
import { saysScenario } from '../simulate/document-kind.ts';

interface ValidateOptions extends InputOptions {
  readonly format: DiagnosticFormat;
  readonly config?: string;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('validate')
    .description('Check job and scenario files and print every finding with its place and remedy.')
    .argument('<files...>', 'job or scenario files')
    .addOption(
      new Option('--format <format>', 'how findings are printed')
        .choices(DIAGNOSTIC_FORMATS)
        .default('pretty'),
    )
    .shares('config', 'inputs')
    .says('Exit codes: 0 no errors, 1 errors, 2 a file cannot be read.')
    .examples('parley validate job.yaml', 'parley validate jobs/*.yaml --format github')
    .action(ends((files: readonly string[], options: ValidateOptions) => validate(shell, files, options)));
}

interface Checked {
  readonly file: string;
  /** Null when the file cannot be read; that was said. */
  readonly diagnostics: readonly Diagnostic[] | null;
  /** The file as text, and the job that a scenario names, by path: for excerpts. */
  readonly texts: ReadonlyMap<string, string>;
  /** What is said of a file without errors. */
  readonly verdict: string;
  readonly exitCode: ExitCode;
}

async function validate(shell: Shell, files: readonly string[], options: ValidateOptions): Promise<ExitCode> {
  const listed = listedModels(shell, options.config);
  const checked: Checked[] = [];
  const asked = options.input !== undefined || options.inputs !== undefined;
  const inputs = asked ? givenInputs(shell, options) : undefined;
  for (const file of files) checked.push(await check(shell, file, { ...listed, ...defined({ inputs }) }));
  print(shell, checked, options.format);
  for (const code of [EXIT.usage, EXIT.failed]) {
    if (checked.some(({ exitCode }) => exitCode === code)) return code;
  }
  return EXIT.ok;
}

interface Beside extends ListedModels {
  /** Absent without values: then inputs may be left open. */
  readonly inputs?: GivenInputs;
}

async function check(shell: Shell, file: string, beside: Beside): Promise<Checked> {
  try {
    const bytes = readJobFile(file, shell.cwd);
    const text = shownText(bytes);
    const source = { path: file, text: bytes };
    const compilation = saysScenario(text)
      ? await checkScenario(shell, source, beside.models)
      : compileJob(source, jobWorld({ shell, file, ...beside, checksSecrets: false }));
    const { diagnostics, texts } = compilation;
    const broken = diagnostics.some(({ severity }) => severity === 'error');
    const exitCode = broken ? EXIT.failed : EXIT.ok;
    return { file, diagnostics, texts, verdict: verdictOn(compilation), exitCode };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    shell.stderr.write(`parley: ${error.message}\n${error.remedy === null ? '' : `  = ${error.remedy}\n`}`);
    return { file, diagnostics: null, texts: new Map(), verdict: '', exitCode: error.exitCode };
  }
}

function verdictOn({ plan, openInputs, openIssues }: Compilation): string {
  if (plan !== null) return `ok, ${counted(plan.items.length, 'conversation')}`;
  if (openIssues.length > 0) {
    const asked = openIssues.map(({ repository, host }) => `"${repository}" at ${host}`);
    return `ok; how many conversations depends on the issues of ${asked.join(', ')}: "parley plan" asks for them`;
  }
  return `ok; how many conversations depends on ${openInputs.map((name) => `--input ${name}`).join(', ')}`;
}

/** Loaded only for scenarios: a job needs neither faults nor expressions. */
async function checkScenario(
  shell: Shell,
  source: JobSource,
  models: readonly string[] | null,
): Promise<Compilation> {
  const { compileScenarioFile } = await import('../scenario/load-scenario.ts');
  const texts = new Map([[source.path, shownText(source.text)]]);
  const { scenario, diagnostics } = compileScenarioFile(shell, { source, models, texts });
  return { plan: scenario?.plan ?? null, diagnostics, texts, openInputs: [], openIssues: [] };
}

function print({ stdout, stderr }: Shell, checked: readonly Checked[], format: DiagnosticFormat): void {
  const all = checked.flatMap(({ diagnostics }) => diagnostics ?? []);
  if (format !== 'pretty') {
    stdout.write(printDiagnostics(all, '', { format }));
    return;
  }
  for (const { file, diagnostics, texts, verdict, exitCode } of checked) {
    if (diagnostics === null) continue;
    stdout.write(printDiagnostics(diagnostics, texts, { format }));
    if (exitCode === EXIT.ok) stdout.write(`${file}: ${verdict}\n`);
  }
  const errors = all.filter(({ severity }) => severity === 'error').length;
  const warnings = all.length - errors;
  if (all.length > 0) stderr.write(`${counted(errors, 'error')}, ${counted(warnings, 'warning')}\n`);
}
