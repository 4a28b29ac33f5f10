/**
 * `parley export`: the conversations of a run as a table for other programs.
 * Owns where it goes; columns and forms are in print/run-export.ts.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command, Option } from 'commander';
import { CliError } from '../../host/cli-error.ts';
import { configOption, examples, type CommandContext } from '../command-context.ts';
import { readDeliveries } from '../results/deliveries.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import { exportRows, rowsAsCsv, rowsAsJsonl } from '../print/run-export.ts';
import { openRun } from '../open-run.ts';
import type { Shell } from '../../host/shell.ts';

const FORMATS = ['jsonl', 'csv'] as const;

interface ExportOptions {
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly config?: string;
}

export function exportCommand({ shell, finish }: CommandContext): Command {
  return new Command('export')
    .description('Print the conversations of a run as JSON Lines or CSV, one row each.')
    .argument('<run>', 'id of the run')
    .addOption(new Option('--format <format>', 'form of the rows').choices(FORMATS).default('jsonl'))
    .option('--out <file>', 'write into this file instead of standard output')
    .addOption(configOption())
    .addHelpText('after', '\nExit codes: 0 printed, 2 there is no such run, or the file cannot be written.')
    .addHelpText(
      'after',
      examples(
        'parley export first-batch-20261121t043105-9f3c > run.jsonl',
        'parley export first-batch-20261121t043105-9f3c --format csv --out run.csv',
      ),
    )
    .action(async (id: string, options: ExportOptions) => {
      finish(await exportRun(shell, id, options));
    });
}

async function exportRun(
  shell: Shell,
  id: string,
  { format, out, config }: ExportOptions,
): Promise<ExitCode> {
  const { reader, row } = await openRun(shell, { id, config });
  const { runId } = row;
  try {
    const [items, plan] = [await reader.runItems(runId), await reader.plan(runId)];
    const deliveries = await readDeliveries(plan, { results: reader.results, runId });
    const rows = exportRows({ items, plan, deliveries });
    const text = format === 'csv' ? rowsAsCsv(rows) : rowsAsJsonl(rows);
    if (out === undefined) shell.stdout.write(text);
    else save(path.resolve(shell.cwd, out), text);
    return EXIT.ok;
  } finally {
    await reader.close();
  }
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new CliError(`Cannot write the rows to "${file}": ${reasonOf(error)}`);
  }
}
