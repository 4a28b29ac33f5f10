/**
 * `parley fmt`: job and scenario files in canonical layout, comments kept.
 * Owns which of printing, checking and writing it is; the layout belongs to the compiler.
 */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatDocument, type Formatted } from '../../dsl/read/format-document.ts';
import { JOB_LANGUAGE } from '../../dsl/job-language.ts';
import { printDiagnostics } from '../../dsl/check/print-diagnostics.ts';
import { SCENARIO_LANGUAGE } from '../../dsl/scenario/scenario-language.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { readJobFile, reasonOf, shownText } from '../../host/job/job-file.ts';
import { saysScenario } from '../simulate/document-kind.ts';
import type { Shell } from '../../host/shell.ts';

interface FmtOptions {
  readonly check?: true;
  readonly write?: true;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('fmt')
    .description('Lay out job and scenario files: keys in one order, two spaces, comments kept.')
    .argument('<files...>', 'job or scenario files')
    .option('--check', 'change nothing, and name the files that are laid out otherwise')
    .option('--write', 'write the files; without it one file is printed')
    .says(
      'Exit codes: 0 done, 1 a file is broken or, with --check, laid out otherwise, 2 a file cannot be read or written.',
    )
    .examples('parley fmt job.yaml', 'parley fmt --write jobs/*.yaml', 'parley fmt --check jobs/*.yaml')
    .action(ends((files: readonly string[], options: FmtOptions) => fmt(shell, files, options)));
}

function fmt(shell: Shell, files: readonly string[], options: FmtOptions): ExitCode {
  const { check, write } = options;
  if (check === true && write === true)
    throw new CliError('Cannot format: --check changes nothing, and --write does', {
      remedy: 'give one of them',
    });
  if (check !== true && write !== true && files.length > 1)
    throw new CliError('Cannot print several files as one', { remedy: 'give --write or --check' });
  const codes = files.map((file) => formatOne(shell, file, options));
  return codes.every((code) => code === EXIT.ok) ? EXIT.ok : EXIT.failed;
}

function formatOne(shell: Shell, file: string, { check, write }: FmtOptions): ExitCode {
  const bytes = readJobFile(file, shell.cwd);
  const before = shownText(bytes);
  const language = saysScenario(before) ? SCENARIO_LANGUAGE : JOB_LANGUAGE;
  const formatted = formatDocument({ path: file, text: bytes }, language);
  if (formatted.kind !== 'formatted') return sayBroken(shell, file, { before, formatted });
  const isSame = formatted.text === before;
  if (check === true) {
    if (!isSame) shell.stdout.write(`${file}\n`);
    return isSame ? EXIT.ok : EXIT.failed;
  }
  if (write !== true) shell.stdout.write(formatted.text);
  else if (!isSame) {
    replace(path.resolve(shell.cwd, file), file, formatted.text);
    shell.stderr.write(`${file}: written\n`);
  }
  return EXIT.ok;
}

function sayBroken(
  { stderr }: Shell,
  file: string,
  {
    before,
    formatted,
  }: { readonly before: string; readonly formatted: Exclude<Formatted, { readonly kind: 'formatted' }> },
): ExitCode {
  if (formatted.kind === 'broken')
    stderr.write(printDiagnostics(formatted.diagnostics, before, { format: 'pretty' }));
  else stderr.write(`${file}: kept, another layout would change what it says\n`);
  return EXIT.failed;
}

/** Beside the file and then in its place, so that there is never half a job. */
function replace(absolute: string, file: string, text: string): void {
  const aside = `${absolute}.fmt`;
  try {
    writeFileSync(aside, text);
    renameSync(aside, absolute);
  } catch (error) {
    throw new CliError(`Cannot write "${file}": ${reasonOf(error)}`);
  }
}
