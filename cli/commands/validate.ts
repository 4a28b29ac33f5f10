/**
 * `parley validate`: every finding of job files, and nothing is run.
 * Owns formats and exit code; must load neither a runtime nor the store, so that it is quick enough for an editor.
 */
import { Command, Option } from 'commander';
import { compileJob } from '../../dsl/compile-job.ts';
import { SOURCE_BYTES_MAX } from '../../dsl/decode-source.ts';
import type { Diagnostic } from '../../dsl/diagnostic.ts';
import { DIAGNOSTIC_FORMATS, printDiagnostics, type DiagnosticFormat } from '../../dsl/print-diagnostics.ts';
import { CliError } from '../cli-error.ts';
import { configOption, examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { jobWorld, readJobFile } from '../job-file.ts';
import { listedModels } from '../listed-models.ts';
import type { Shell } from '../shell.ts';

interface ValidateOptions {
  readonly format: DiagnosticFormat;
  readonly config?: string;
}

export function validateCommand({ shell, finish }: CommandContext): Command {
  return new Command('validate')
    .description('Check job files and print every finding with its place and remedy.')
    .argument('<files...>', 'job files')
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
  /** The file as text, for excerpts. */
  readonly text: string;
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
  try {
    const bytes = readJobFile(file, shell.cwd);
    const world = jobWorld({ shell, file, models, checksSecrets: false });
    const { plan, diagnostics } = compileJob({ path: file, text: bytes }, world);
    const text = bytes.byteLength > SOURCE_BYTES_MAX ? '' : new TextDecoder().decode(bytes);
    const exitCode = plan === null ? EXIT.failed : EXIT.ok;
    return { file, diagnostics, text, items: plan?.items.length ?? 0, exitCode };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    shell.stderr.write(`parley: ${error.message}\n${error.remedy === null ? '' : `  = ${error.remedy}\n`}`);
    return { file, diagnostics: null, text: '', items: 0, exitCode: error.exitCode };
  }
}

function print({ stdout, stderr }: Shell, checked: readonly Checked[], format: DiagnosticFormat): void {
  const all = checked.flatMap(({ diagnostics }) => diagnostics ?? []);
  if (format !== 'pretty') {
    stdout.write(printDiagnostics(all, '', { format }));
    return;
  }
  for (const { file, diagnostics, text, items, exitCode } of checked) {
    if (diagnostics === null) continue;
    stdout.write(printDiagnostics(diagnostics, text, { format }));
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
