/**
 * `parley wait`: until a run is over, with its exit code.
 * Owns the bound of the waiting; must not show what goes on, nor influence it.
 */
import { Command } from 'commander';
import { parseDuration } from '../../dsl/duration.ts';
import { CliError } from '../cli-error.ts';
import { configOption, examples, jsonOption, type CommandContext } from '../command-context.ts';
import { EXIT, exitCodeOfRun, type ExitCode } from '../exit-code.ts';
import { noSuchRun, openRuns } from '../open-deployment.ts';
import { openRecords, runRecord } from '../print/records.ts';
import { runCounts, runState } from '../print/run-words.ts';
import { parseRunId } from '../run-id.ts';
import { pause, type Shell } from '../shell.ts';
import { followRun, interruptSignal } from '../watch-run.ts';

interface WaitOptions {
  readonly timeout?: string;
  readonly json?: true;
  readonly config?: string;
}

export function waitCommand({ shell, finish }: CommandContext): Command {
  return new Command('wait')
    .description('Wait until a run is finished or rests, and end with its exit code.')
    .argument('<run>', 'id of the run')
    .option('--timeout <duration>', 'wait this long at most, such as 30m')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nExit codes: those of "parley run" once the run ends; 3 also when the time is over; 130 when you stopped waiting.',
    )
    .addHelpText('after', examples('parley wait first-batch-20261121t043105-9f3c --timeout 2h'))
    .action(async (id: string, options: WaitOptions) => {
      finish(await wait(shell, id, options));
    });
}

async function wait(shell: Shell, id: string, options: WaitOptions): Promise<ExitCode> {
  const runId = parseRunId(id);
  const timeoutMs = parseTimeout(options.timeout);
  const opened = await openRuns(shell, options.config);
  if (opened === null) throw noSuchRun(id);
  const { reader } = opened;
  const interrupt = interruptSignal(shell);
  const over = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, over.signal]);
  const ended = new AbortController();
  if (timeoutMs !== null) void pause(shell.clock, timeoutMs, ended.signal).then(() => over.abort());
  try {
    const row = await followRun({ shell, reader, runId, signal, onRows: () => undefined });
    if (row === null) throw noSuchRun(id);
    if (interrupt.signal.aborted) return EXIT.interrupted;
    if (options.json === true) openRecords(shell.stdout).write(runRecord(row));
    else shell.stdout.write(`${runState(row)}: ${runCounts(row)}\n`);
    return exitCodeOfRun(row, await reader.plan(runId));
  } finally {
    ended.abort();
    interrupt.release();
    await reader.close();
  }
}

function parseTimeout(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new CliError(`Cannot use --timeout "${text}": it is no duration`, {
    remedy: 'write digits with d, h, m or s, such as 30m',
  });
}
