/**
 * `parley reconcile`: join what the gateway billed with the conversations of a run, once more (D27).
 * Owns the printed sums; the joining is not done here.
 */
import path from 'node:path';
import { Command } from 'commander';
import { configOption, examples, jsonOption, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { openRecords, reconciliationFields } from '../print/records.ts';
import { reconciliationLines } from '../print/run-summary.ts';
import type { Shell } from '../shell.ts';
import { withHost } from '../with-host.ts';

interface ReconcileOptions {
  readonly rows?: string;
  readonly json?: true;
  readonly config?: string;
}

export function reconcileCommand({ shell, finish }: CommandContext): Command {
  return new Command('reconcile')
    .description("Join the gateway's spend rows with the conversations of a run.")
    .argument('<run>', 'id of the run')
    .option('--rows <file>', 'rows as .jsonl or .csv, instead of where the job says')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 within tolerance, 2 there is no such run or the rows cannot be read,',
    )
    .addHelpText('after', '5 the gateway or the engine cannot be reached, 7 outside tolerance.')
    .addHelpText(
      'after',
      examples(
        'parley reconcile first-batch-20261121t043105-9f3c',
        'parley reconcile first-batch-20261121t043105-9f3c --rows spend.csv',
      ),
    )
    .action(async (id: string, options: ReconcileOptions) => {
      finish(await reconcile(shell, id, options));
    });
}

async function reconcile(shell: Shell, id: string, options: ReconcileOptions): Promise<ExitCode> {
  const rows = options.rows === undefined ? null : path.resolve(shell.cwd, options.rows);
  const summary = await withHost(shell, { id, config: options.config }, (host, runId) =>
    host.reconcile(runId, rows),
  );
  if (options.json === true) {
    const fields = reconciliationFields(summary);
    openRecords(shell.stdout).write({ type: 'reconciliation', run_id: id, ...fields });
  } else {
    shell.stdout.write(`${reconciliationLines(summary).join('\n')}\n`);
  }
  return summary.withinTolerance ? EXIT.ok : EXIT.outsideTolerance;
}
