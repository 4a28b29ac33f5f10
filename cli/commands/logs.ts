/**
 * `parley logs`: what agents said and did, as the store has it.
 * Owns which conversations are printed and how long; lines are made in print/event-line.ts.
 */
import { endedWell } from '../../core/status.ts';
import { Command } from 'commander';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { CliError } from '../../host/cli-error.ts';
import { configOption, examples, jsonOption, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { readEvidence } from '../results/item-evidence.ts';
import { checkLines, evidenceRecord, findingLines } from '../print/evidence.ts';
import { openRecords } from '../../host/records.ts';
import { openRun } from '../open-run.ts';
import { addServerOptions, type ServerOptions } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';
import { transcriptPrinter } from '../transcript-printer.ts';
import { followRun, interruptSignal } from '../watch-run.ts';

interface LogsOptions extends ServerOptions {
  readonly follow?: true;
  readonly failed?: true;
  readonly json?: true;
  readonly config?: string;
}

export function logsCommand({ shell, finish }: CommandContext): Command {
  const command = new Command('logs')
    .description('Print the transcripts of a run.')
    .argument('<run>', 'id of the run')
    .argument('[key]', 'key of one conversation (default: all)')
    .option('-f, --follow', 'go on until the run ends')
    .option('--failed', 'only conversations that ended otherwise than well')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', '\nExit codes: 0 printed, 2 there is no such run or key, 130 interrupted.')
    .addHelpText(
      'after',
      examples(
        'parley logs first-batch-20261121t043105-9f3c --failed',
        'parley logs first-batch-20261121t043105-9f3c esm-entry -f',
      ),
    )
    .action(async (id: string, key: string | undefined, options: LogsOptions) => {
      finish(await logs(shell, { id, key: key ?? null, options }));
    });
  return addServerOptions(command);
}

interface LogsRequest {
  readonly id: string;
  readonly key: string | null;
  readonly options: LogsOptions;
}

async function logs(shell: Shell, request: LogsRequest): Promise<ExitCode> {
  const { id, options } = request;
  const { reader, row } = await openRun(shell, { id, ...options });
  const { runId } = row;
  const interrupt = interruptSignal(shell);
  try {
    choose(await reader.runItems(runId), request);
    const records = options.json === true ? openRecords(shell.stdout) : null;
    const printer = transcriptPrinter({ reader, stdout: shell.stdout, records });
    if (options.follow !== true) await printer.print(choose(await reader.runItems(runId), request));
    else {
      const { signal } = interrupt;
      await followRun({
        shell,
        reader,
        runId,
        signal,
        onRows: (_, items) => printer.print(choose(items, request)),
      });
    }
    const chosen = choose(await reader.runItems(runId), request);
    const evidence = await readEvidence(chosen, reader.results);
    for (const one of evidence) records?.write(evidenceRecord(one));
    const lines = [...checkLines(evidence, Infinity), ...findingLines(evidence)];
    if (records === null && lines.length > 0) shell.stdout.write(`\n${lines.join('\n')}\n`);
    return interrupt.signal.aborted ? EXIT.interrupted : EXIT.ok;
  } finally {
    interrupt.release();
    await reader.close();
  }
}

/** @throws CliError when no item has the key */
function choose(items: readonly RunItemRow[], { id, key, options }: LogsRequest): readonly RunItemRow[] {
  const named = key === null ? items : items.filter((item) => item.key === key);
  if (key !== null && named.length === 0) {
    throw new CliError(`Cannot print "${key}": the run "${id}" has no conversation of this key`, {
      remedy: `list them with: parley status ${id}`,
    });
  }
  if (options.failed !== true) return named;
  return named.filter((item) => item.phase === 'ended' && !endedWell(item.outcome));
}
