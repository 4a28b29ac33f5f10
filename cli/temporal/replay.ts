/**
 * `parley temporal replay`: histories against this build, one line each.
 * Owns what is printed and the exit code; histories and replaying are temporal/replay's.
 */
import path from 'node:path';
import { Option } from 'commander';
import type { Histories, Replayed } from '../../temporal/replay.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { builtProgram } from '../../host/sandboxes/places.ts';
import { converterOf, knownSealKey, type KeySource } from '../../host/engines/temporal-codec.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { serverIn, type ServerFlags } from './server-options.ts';

interface ReplayFlags extends ServerFlags {
  readonly workflow?: string;
  readonly query?: string;
}

export function replayCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('replay')
    .summary('replay histories against this build')
    .description(
      'Replay histories against this build: of files, of one workflow, or of what a query of the server finds.',
    )
    .argument('[path]', 'file or folder of histories, as "temporal workflow show --output json" prints them')
    .option('--workflow <id>', 'every run of this workflow on the server')
    .addOption(new Option('--query <text>', 'every run that the server lists for it').conflicts('workflow'))
    .shares('address', 'namespace', 'config', 'json')
    .says(
      'Exit codes: 0 all replayed, 1 one did not, 2 nothing can be replayed so, 5 the server does not answer.',
    )
    .examples(
      'parley temporal replay histories/',
      `parley temporal replay --query "ExecutionStatus = 'Running'"`,
    )
    .action(ends((place: string | undefined, flags: ReplayFlags) => replayAll(shell, place, flags)));
}

async function replayAll(shell: Shell, place: string | undefined, flags: ReplayFlags): Promise<ExitCode> {
  const { workflow, query } = flags;
  if ((place === undefined) === (workflow === undefined && query === undefined)) {
    throw new CliError('Cannot replay: name either a file or folder, or --workflow, or --query');
  }
  const source = await import('../../temporal/replay.ts');
  const { quietReplays } = await import('../../temporal/replay.ts');
  // Before the connection, which would start the packages with a log of their own.
  quietReplays();
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  const keys = { env: shell.env, sealKey: knownSealKey(shell.env, config.dataDir) };
  if (place !== undefined) {
    return await print(shell, { ...flags, keys }, source.recordedHistories(path.resolve(shell.cwd, place)));
  }
  const { connectTemporal } = await import('../../temporal/connect.ts');
  const { WorkflowClient } = await import('@temporalio/client');
  const server = serverIn(config, flags);
  const connection = await connectTemporal(server);
  try {
    const dataConverter = converterOf(keys, () => undefined);
    const client = new WorkflowClient({ connection, namespace: server.namespace, dataConverter });
    const asked = query ?? source.queryOf(workflow ?? '');
    return await print(shell, { ...flags, keys }, source.serverHistories(client, asked));
  } finally {
    await connection.close();
  }
}

interface Printing extends Pick<ReplayFlags, 'json'> {
  readonly keys: KeySource;
}

async function print(shell: Shell, { json, keys }: Printing, histories: Histories): Promise<ExitCode> {
  const { replay } = await import('../../temporal/replay.ts');
  const missing: { key: Error | null } = { key: null };
  const options = {
    workflowBundle: { codePath: builtProgram('workflows.bundle.js') },
    dataConverter: converterOf(keys, (error) => void (missing.key ??= error)),
  };
  const records = json === true ? openRecords(shell.stdout) : null;
  let failed = 0;
  let count = 0;
  for await (const replayed of replay(options, histories)) {
    // Without the key nothing is known about a history; the package only says that its task failed.
    if (missing.key !== null) throw missing.key;
    count += 1;
    if (replayed.problem !== null) failed += 1;
    const { workflowId, name, events, problem } = replayed;
    if (records === null) shell.stdout.write(`${printable(lineOf(replayed))}\n`);
    else records.write({ type: 'replayed', workflow_id: workflowId, name, events, problem });
  }
  if (count === 0) throw new CliError('Cannot replay: the server lists no such workflow');
  if (records === null) shell.stdout.write(`${count - failed} of ${count} replayed\n`);
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

function lineOf({ workflowId, name, events, problem }: Replayed): string {
  const what = `${workflowId}  ${path.basename(name)}  ${events} events`;
  return problem === null ? `ok      ${what}` : `failed  ${what}: ${problem}`;
}
