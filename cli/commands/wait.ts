/**
 * `parley wait`: until a run is over, or is at work, or one of its conversations has ended.
 * Owns what is waited for and the bound of the waiting; must not show what goes on, nor influence it.
 */
import { endedWell } from '../../core/status.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { parseDuration } from '../../dsl/duration.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode, exitCodeOfRun } from '../../host/exit-code.ts';
import { noSuchRun } from '../../host/open-deployment.ts';
import { runRecord, writeAnswer } from '../../host/records.ts';
import { countEnded, runCounts, runState } from '../../core/run/run-words.ts';
import type { Shell } from '../../host/shell.ts';
import { sleep } from '../../runtimes/on-host/wait.ts';
import { openRun } from '../open-run.ts';
import type { ServerOptions } from '../server/server-address.ts';
import { noSuchKey } from '../story/near-names.ts';
import { followRun, interruptSignal } from '../watch-run.ts';

interface WaitOptions extends ServerOptions, Flags {
  readonly for: string;
  readonly timeout?: string;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('wait')
    .description('Wait until a run is finished or rests, and end with its exit code.')
    .argument('<run>', 'id of the run')
    .option('--for <what>', 'done, running, or key=KEY: that conversation has ended', 'done')
    .option('--timeout <duration>', 'wait this long at most, such as 30m')
    .shares('json', 'config', 'server')
    .says(
      'Exit codes: those of "parley run" once the run ends; 3 also when the time is over; 130 when you stopped waiting.\nWith --for running: 0 as soon as a conversation is in flight or has ended.\nWith --for key=KEY: 0 when it succeeded, 1 when it ended otherwise.',
    )
    .examples(
      'parley wait first-batch-20261121t043105-9f3c --timeout 2h',
      'parley wait first-batch-20261121t043105-9f3c --for key=esm-entry',
    )
    .action(ends((id: string, options: WaitOptions) => wait(shell, id, options)));
}

async function wait(shell: Shell, id: string, options: WaitOptions): Promise<ExitCode> {
  const timeoutMs = parseTimeout(options.timeout);
  const wanted = parseWanted(options.for);
  const { reader, row: named } = await openRun(shell, { id, ...options });
  const { runId } = named;
  const interrupt = interruptSignal(shell);
  const over = new AbortController();
  const met: { code: ExitCode | null } = { code: null };
  const signal = AbortSignal.any([interrupt.signal, over.signal]);
  const ended = new AbortController();
  if (timeoutMs !== null) void sleep(shell.clock, timeoutMs, ended.signal).then(() => over.abort());
  try {
    const onRows = (row: RunRow, items: readonly RunItemRow[]): void => {
      met.code = codeOf(wanted, row, items);
      if (met.code !== null) over.abort();
    };
    const row = await followRun({ shell, reader, runId, signal, onRows });
    if (row === null) throw noSuchRun(id);
    if (interrupt.signal.aborted) return EXIT.interrupted;
    const lines = [`${runState(row)}: ${runCounts(row)}`];
    writeAnswer(shell.stdout, options, { records: [runRecord(row)], lines });
    if (met.code !== null) return met.code;
    // The run ended, rests or took too long without it.
    if (wanted.kind !== 'done' && row.phase !== 'finished') return EXIT.incomplete;
    return wanted.kind === 'key' ? EXIT.failed : exitCodeOfRun(row, await reader.plan(runId));
  } finally {
    ended.abort();
    interrupt.release();
    await reader.close();
  }
}

type Wanted =
  { readonly kind: 'done' } | { readonly kind: 'running' } | { readonly kind: 'key'; readonly key: string };

/** The exit code once what is waited for has come; null before. Of a whole run it is the run's own. */
function codeOf(wanted: Wanted, row: RunRow, items: readonly RunItemRow[]): ExitCode | null {
  switch (wanted.kind) {
    case 'done':
      return null;
    case 'running':
      return row.inFlight > 0 || countEnded(row) > 0 ? EXIT.ok : null;
    case 'key': {
      const item = items.find(({ key }) => key === wanted.key);
      const known = items.map(({ key }) => key);
      if (item === undefined && items.length === row.total)
        throw noSuchKey(wanted.key, known, { list: 'parley status RUN', doing: 'wait for' });
      if (item?.phase !== 'ended') return null;
      return endedWell(item.outcome) ? EXIT.ok : EXIT.failed;
    }
  }
}

function parseWanted(text: string): Wanted {
  if (text === 'done' || text === 'running') return { kind: text };
  const [, key = ''] = /^key=(.+)$/.exec(text) ?? [];
  if (key !== '') return { kind: 'key', key };
  throw new CliError(`Cannot wait for "${text}": it is nothing a run comes to`, {
    remedy: 'write done, running, or key=KEY',
  });
}

function parseTimeout(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new CliError(`Cannot use --timeout "${text}": it is no duration`, {
    remedy: 'write digits with d, h, m or s, such as 30m',
  });
}
