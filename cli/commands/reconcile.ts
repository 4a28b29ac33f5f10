/**
 * `parley reconcile`: join what the gateway billed with the conversations of a run, once more (D27).
 * Owns the printed sums; the joining is not done here.
 */
import { Command } from 'commander';
import { configOption, examples, jsonOption, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { lossFields, reconciliationRecords, reconciliationText } from '../print/reconciliation.ts';
import { openRecords, reconciliationFields } from '../../host/records.ts';
import { reconciliationLines } from '../print/run-summary.ts';
import { reconcileRequest, type ReconcileFlags } from '../reconcile-request.ts';
import type { Shell } from '../../host/shell.ts';
import { withHost } from '../with-host.ts';

interface ReconcileOptions extends ReconcileFlags {
  readonly json?: true;
  readonly config?: string;
}

export function reconcileCommand({ shell, finish }: CommandContext): Command {
  return new Command('reconcile')
    .description("Join the gateway's spend rows with the conversations of a run.")
    .argument('<run>', 'id of the run')
    .option('--rows <file>', 'rows as .jsonl, .json or .csv, instead of where the job says')
    .option('--map <field=column>', 'the column of a field in such a file; repeatable', collect)
    .option('--rate <currency=usd>', 'USD for one unit of a currency; repeatable', collect)
    .option('--alias <billed=name>', "our proxy's name for a model that is billed; repeatable", collect)
    .option('--expect <bound>', 'such as "unmatched<=1%"; repeatable', collect)
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 no bound is exceeded, 2 there is no such run or the rows cannot be read,',
    )
    .addHelpText('after', '5 the gateway or the engine cannot be reached, 7 outside tolerance.')
    .addHelpText(
      'after',
      examples(
        'parley reconcile first-batch-20261121t043105-9f3c',
        "parley reconcile first-batch-20261121t043105-9f3c --rows spend.csv --expect 'unmatched<=1%'",
      ),
    )
    .action(async (id: string, options: ReconcileOptions) => {
      finish(await reconcile(shell, id, options));
    });
}

function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

async function reconcile(shell: Shell, id: string, options: ReconcileOptions): Promise<ExitCode> {
  const request = reconcileRequest(options, shell.cwd);
  const answer = await withHost(shell, { id, config: options.config }, (host, runId) =>
    host.reconcile(runId, request),
  );
  const { summary, isKept } = answer;
  const expected = options.expect ?? [];
  if (options.json === true) {
    const records = openRecords(shell.stdout);
    const expectations = expected.map((bound, index) => ({ bound, kept: isKept[index] === true }));
    const fields = { ...reconciliationFields(summary), ...lossFields(answer.lost) };
    records.write({ type: 'reconciliation', run_id: id, ...fields, expectations });
    for (const record of reconciliationRecords(id, answer)) records.write(record);
  } else {
    const lines = [...reconciliationLines(summary), ...reconciliationText(answer, expected)];
    shell.stdout.write(`${lines.join('\n')}\n`);
  }
  return summary.withinTolerance !== false && isKept.every(Boolean) ? EXIT.ok : EXIT.outsideTolerance;
}
