/**
 * `parley watch`: a run as `parley run` shows it, from another terminal.
 * Owns the end of the watching; Ctrl-C ends the watching and never the run.
 */
import { CliCommand, type CommandContext, type HostFlags } from '../command-context.ts';
import { EXIT, type ExitCode, exitCodeOfRun } from '../../host/exit-code.ts';
import { noSuchRun } from '../../host/open-deployment.ts';
import { hostOfServer, openRun } from '../open-run.ts';
import { runSummary } from '../print/run-summary.ts';
import type { ServerOptions } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';
import { openRunView } from '../view/open-run-view.ts';
import { followRun, interruptSignal } from '../watch-run.ts';
import { runResult } from '../run-session.ts';

type WatchOptions = ServerOptions & HostFlags;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('watch')
    .description('Show a run while it goes on elsewhere.')
    .argument('<run>', 'id of the run')
    .shares('json', 'plain', 'config', 'server')
    .says('Ctrl-C stops the watching; the run goes on.')
    .says('Exit codes: those of "parley run" once the run ends; 130 when you stopped watching.')
    .examples('parley watch first-batch-20261121t043105-9f3c')
    .action(ends((id: string, options: WatchOptions) => watch(shell, id, options)));
}

async function watch(shell: Shell, id: string, options: WatchOptions): Promise<ExitCode> {
  const { reader, row: named, from } = await openRun(shell, { id, ...options });
  const { runId } = named;
  const json = options.json === true;
  const interrupt = interruptSignal(shell);
  const view = await openRunView({
    shell,
    json,
    plain: options.plain === true,
    lastActivityAt: (sandboxId) => reader.lastActivityAt(sandboxId),
  });
  try {
    const { signal } = interrupt;
    const onRows = (...rows: Parameters<typeof view.changed>): void => view.changed(...rows);
    const row = await followRun({ shell, reader, runId, signal, onRows, host: hostOfServer(from) });
    if (row === null) throw noSuchRun(id);
    view.close();
    if (signal.aborted) return EXIT.interrupted;
    const told = await runResult(shell, reader, row);
    if (!json) shell.stdout.write(runSummary(told));
    return exitCodeOfRun(row, told.plan);
  } finally {
    interrupt.release();
    view.close();
    await reader.close();
  }
}
