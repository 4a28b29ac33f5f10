/**
 * `parley report`: write the reports of a run anew.
 * Owns the list of what was written; the reports are not made here.
 */
import { Command } from 'commander';
import { configOption, examples, jsonOption, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { lossWords } from '../../core/money/spend-loss.ts';
import { lossFields } from '../print/reconciliation.ts';
import { openRecords } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';
import { withHost } from '../with-host.ts';

interface ReportOptions {
  readonly json?: true;
  readonly config?: string;
}

export function reportCommand({ shell, finish }: CommandContext): Command {
  return new Command('report')
    .description('Write the reports of a run anew.')
    .argument('<run>', 'id of the run')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 written, 2 there is no such run, 5 another process owns the data directory.',
    )
    .addHelpText('after', examples('parley report first-batch-20261121t043105-9f3c'))
    .action(async (id: string, options: ReportOptions) => {
      finish(await report(shell, id, options));
    });
}

async function report(shell: Shell, id: string, options: ReportOptions): Promise<ExitCode> {
  const { files, lost } = await withHost(shell, { id, config: options.config }, (host, runId) =>
    host.report(runId),
  );
  if (options.json === true)
    openRecords(shell.stdout).write({ type: 'reported', run_id: id, files, ...lossFields(lost) });
  else if (files.length === 0) shell.stderr.write('the job asks for no report; its key is "report"\n');
  else shell.stdout.write(`${files.join('\n')}\n`);
  if (options.json !== true && lost !== null) shell.stderr.write(`${lossWords(lost)}\n`);
  return EXIT.ok;
}
