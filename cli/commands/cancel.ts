/**
 * `parley cancel`: end a run; what was made so far is still collected.
 * Owns where the request goes: to the engine that runs, or, when none does, to a host of its own that ends the run.
 */
import { CliCommand, type CommandContext, type HostFlags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { RunRequest } from '../../host/host-port.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { openHostWithView, orClose } from '../open-host.ts';
import { runRecord, writeAnswer } from '../../host/records.ts';
import { attend } from '../run-session.ts';
import { openRun } from '../open-run.ts';
import type { ServerOptions } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';
import type { RunId } from '../../core/ids.ts';
import type { RunRow } from '../../core/machine/projection.ts';

type CancelOptions = ServerOptions & HostFlags;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('cancel')
    .description('End a run; what its conversations made is still collected.')
    .argument('<run>', 'id of the run')
    .shares('json', 'plain', 'engine', 'config', 'server')
    .says('Exit codes: 0 cancelled, or the running engine was told; 2 there is no such run.')
    .examples('parley cancel first-batch-20261121t043105-9f3c')
    .action(ends((id: string, options: CancelOptions) => cancel(shell, id, options)));
}

async function cancel(shell: Shell, id: string, options: CancelOptions): Promise<ExitCode> {
  const { row, reader, from } = await openRun(shell, { id, ...options });
  await reader.close();
  const { runId } = row;
  if (row.phase === 'finished')
    return say(shell, row, { options, text: `the run ${id} has finished already` });
  const event: RunRequest = { type: 'cancelRequested', requestId: `cancel-${shell.randomHex(16)}` };
  if (from.kind === 'server') {
    await from.host.tellRun(runId, event);
    return say(shell, row, { options, text: `the service was told; look with: parley watch ${id}` });
  }
  if (await from.port.control(from.config, { runId, event })) {
    return say(shell, row, { options, text: `the engine was told; look with: parley watch ${id}` });
  }
  return await cancelHere(shell, { runId, event, options });
}

function say(
  { stdout }: Shell,
  row: RunRow,
  { options, text }: { readonly options: CancelOptions; readonly text: string },
): ExitCode {
  writeAnswer(stdout, options, { records: [{ ...runRecord(row), type: 'cancel', text }], lines: [text] });
  return EXIT.ok;
}

interface Takeover {
  readonly runId: RunId;
  readonly event: RunRequest;
  readonly options: CancelOptions;
}

/** No other process can end it: agents have to be stopped and results collected. */
async function cancelHere(shell: Shell, { runId, event, options }: Takeover): Promise<ExitCode> {
  const { config: path, engine } = options;
  const config = await openDeployment(shell, { path, startsProxy: true, engine });
  const { host, view } = await openHostWithView(shell, config, options);
  const plan = await host.plan(runId);
  await orClose({ host, view }, () => host.tellRun(runId, event));
  const exitCode = await attend({ shell, host, runId, plan, view, json: options.json === true });
  // A cancelled run has unsuccessful conversations by the user's own wish.
  return exitCode === EXIT.failed || exitCode === EXIT.outsideTolerance ? EXIT.ok : exitCode;
}
