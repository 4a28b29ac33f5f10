/**
 * `parley validate`: every finding of job and scenario files, and nothing is run.
 * Owns formats and exit code; must load neither a runtime nor the store, so that it is quick enough for an editor.
 */
import { Command, Option } from 'commander';
import { compileJob, type Compilation } from '../../dsl/compile-job.ts';
import { SOURCE_BYTES_MAX, type JobSource } from '../../dsl/decode-source.ts';
import type { Diagnostic } from '../../dsl/diagnostic.ts';
import { DIAGNOSTIC_FORMATS, printDiagnostics, type DiagnosticFormat } from '../../dsl/print-diagnostics.ts';
import { compileScenario } from '../../dsl/scenario/compile-scenario.ts';
import type { ScenarioWorld } from '../../dsl/scenario/scenario-world.ts';
import { CliError } from '../cli-error.ts';
import { configOption, examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { jobWorld, readJobFile } from '../job-file.ts';
import { listedModels } from '../listed-models.ts';
import { scenarioWorld } from '../scenario/load-scenario.ts';
import type { Shell } from '../shell.ts';
import { saysScenario } from '../simulate/document-kind.ts';

interface ValidateOptions {
  readonly format: DiagnosticFormat;
  readonly config?: string;
}

export function validateCommand({ shell, finish }: CommandContext): Command {
  return new Command('validate')
    .description('Check job and scenario files and print every finding with its place and remedy.')
    .argument('<files...>', 'job or scenario files')
    .addOption(
      new Option('--format <format>', 'how findings are printed')
        .choices(DIAGNOSTIC_FORMATS)
        .default('pretty'),
    )
    .addOption(configOption())
    .addHelpText('after', '\nExit codes: 0 no errors, 1 errors, 2 a file cannot be read.')
    .addHelpText('after', examples('parley validate job.yaml', 'parley validate jobs/*.yaml --format github'))
    .action((files: readonly string[], options: ValidateOptions) => {
      finish(validate(shell, files, options));
    });
}

interface Checked {
  readonly file: string;
  /** Null when the file cannot be read; that was said. */
  readonly diagnostics: readonly Diagnostic[] | null;
  /** The file as text, and the job that a scenario names, by path: for excerpts. */
  readonly texts: ReadonlyMap<string, string>;
  readonly items: number;
  readonly exitCode: ExitCode;
}

function validate(shell: Shell, files: readonly string[], options: ValidateOptions): ExitCode {
  const models = listedModels(shell, options.config);
  const checked = files.map((file) => check(shell, file, models));
  print(shell, checked, options.format);
  for (const code of [EXIT.usage, EXIT.failed]) {
    if (checked.some(({ exitCode }) => exitCode === code)) return code;
  }
  return EXIT.ok;
}

function check(shell: Shell, file: string, models: readonly string[] | null): Checked {
  const texts = new Map<string, string>();
  try {
    const bytes = readJobFile(file, shell.cwd);
    const text = textOf(bytes);
    texts.set(file, text);
    const source = { path: file, text: bytes };
    const { plan, diagnostics } = saysScenario(text)
      ? checkScenario(source, scenarioWorld(shell, { file, models }), texts)
      : compileJob(source, jobWorld({ shell, file, models, checksSecrets: false }));
    const exitCode = plan === null ? EXIT.failed : EXIT.ok;
    return { file, diagnostics, texts, items: plan?.items.length ?? 0, exitCode };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    shell.stderr.write(`parley: ${error.message}\n${error.remedy === null ? '' : `  = ${error.remedy}\n`}`);
    return { file, diagnostics: null, texts, items: 0, exitCode: error.exitCode };
  }
}

function checkScenario(source: JobSource, world: ScenarioWorld, texts: Map<string, string>): Compilation {
  const { scenario, diagnostics, job } = compileScenario(source, world);
  if (job !== null && typeof job.text !== 'string') texts.set(job.path, textOf(job.text));
  return { plan: scenario?.plan ?? null, diagnostics };
}

function textOf(bytes: Uint8Array): string {
  return bytes.byteLength > SOURCE_BYTES_MAX ? '' : new TextDecoder().decode(bytes);
}

function print({ stdout, stderr }: Shell, checked: readonly Checked[], format: DiagnosticFormat): void {
  const all = checked.flatMap(({ diagnostics }) => diagnostics ?? []);
  if (format !== 'pretty') {
    stdout.write(printDiagnostics(all, '', { format }));
    return;
  }
  for (const { file, diagnostics, texts, items, exitCode } of checked) {
    if (diagnostics === null) continue;
    stdout.write(printDiagnostics(diagnostics, texts, { format }));
    if (exitCode === EXIT.ok)
      stdout.write(`${file}: ok, ${items} ${items === 1 ? 'conversation' : 'conversations'}\n`);
  }
  const errors = all.filter(({ severity }) => severity === 'error').length;
  const warnings = all.length - errors;
  if (all.length > 0) stderr.write(`${counted(errors, 'error')}, ${counted(warnings, 'warning')}\n`);
}

function counted(count: number, word: string): string {
  return `${count} ${count === 1 ? word : `${word}s`}`;
}
