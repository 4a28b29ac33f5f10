/**
 * `parley temporal versions`: the builds of the workers, which of them is current, and what is left on each.
 * Owns what is printed.
 */
import type { Connection } from '@temporalio/client';
import { openDeployment } from '../../host/open-deployment.ts';
import type { DeploymentBuilds } from '../../temporal/versioning/builds.ts';
import type { DrainProgress } from '../../temporal/versioning/drain.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openRecords, writeAnswer } from '../../host/records.ts';
import { table, printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { numberFrom } from '../parse-port.ts';
import { serverIn, type ServerFlags } from './server-options.ts';

export function versionsCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('versions')
    .summary('list the builds of the workers')
    .description('List the builds of the workers: their status, and the open entities on each.')
    .option('--deployment <name>', DEPLOYMENT)
    .shares('address', 'namespace', 'json', 'config')
    .says('Exit codes: 0 listed, 2 the server cannot be used so, 4 it refuses the key, 5 it does not answer.')
    .examples('parley temporal versions')
    .action(ends((flags: VersionFlags) => list(shell, flags)));
}

async function list(shell: Shell, flags: VersionFlags): Promise<ExitCode> {
  const { findBuilds } = await import('../../temporal/versioning/builds.ts');
  const { deployment, builds, current } = await askServer(shell, flags, async (server) => ({
    deployment: server.deployment,
    ...(await findBuilds(server, server.deployment)),
  }));
  const records = builds.map(({ buildId, status, createdAt, open }) => ({
    ...{ type: 'build', deployment, build_id: buildId, status, created_at: createdAt, open },
  }));
  writeAnswer(shell.stdout, flags, { records, lines: builds.length === 0 ? [] : buildTable(builds) });
  if (flags.json === true) return EXIT.ok;
  if (builds.length === 0)
    shell.stderr.write(`deployment ${deployment}: no worker with a version was ever seen\n`);
  else if (current === null)
    shell.stderr.write('no build is current, so none of them gets work: parley temporal promote BUILD\n');
  return EXIT.ok;
}

function buildTable(builds: DeploymentBuilds['builds']): readonly string[] {
  const columns = [
    { title: 'BUILD' },
    { title: 'STATUS' },
    { title: 'OPEN', side: 'right' },
    { title: 'SINCE' },
  ] as const;
  const rows = builds.map(({ buildId, status, open, createdAt }) => [
    buildId,
    status,
    String(open),
    new Date(createdAt).toISOString().replace(/\.\d+Z$/, 'Z'),
  ]);
  return table(columns, rows);
}

/** What the commands about builds share: their options, and the server that they ask. */
interface VersionFlags extends ServerFlags {
  readonly deployment?: string;
}

interface AskedServer {
  readonly connection: Connection;
  readonly namespace: string;
  /** Deployment of the workers that is meant. */
  readonly deployment: string;
}

/** Meant when neither the command nor the deployment's file names one. */
const DEPLOYMENT_DEFAULT = 'parley';
const DEPLOYMENT = `deployment of the workers (default: engine.versioning.deployment, or ${DEPLOYMENT_DEFAULT})`;

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden */
async function askServer<Answer>(
  shell: Shell,
  flags: VersionFlags,
  question: (server: AskedServer) => Promise<Answer>,
): Promise<Answer> {
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  const server = serverIn(config, flags);
  const deployment = flags.deployment ?? config.engine.temporal.versioning?.deployment ?? DEPLOYMENT_DEFAULT;
  const { checkServer } = await import('../../temporal/check-server.ts');
  const { openServerClient } = await import('../../temporal/server-client.ts');
  const { serverProblem } = await import('../../temporal/server-problem.ts');
  await checkServer(server);
  const connection = openServerClient(server);
  try {
    return await question({ connection, namespace: server.namespace, deployment });
  } catch (error) {
    throw serverProblem(server, error);
  } finally {
    await connection.close();
  }
}

/** `parley temporal promote`: one build of the workers becomes the current one. */
export function promoteCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('promote')
    .summary('make a build of the workers the current one')
    .description('Make a build the current one: everything that begins, begins on it.')
    .argument('<build>', 'build id, as "parley temporal versions" prints it')
    .option('--deployment <name>', DEPLOYMENT)
    .shares('address', 'namespace', 'json', 'config')
    .says(
      'Exit codes: 0 it is current, 2 it cannot be promoted, 4 the server refuses the key, 5 it does not answer.',
    )
    .examples('parley temporal promote 1.2.0-3fb2a91c07de')
    .action(ends((buildId: string, flags: VersionFlags) => promoteBuild(shell, buildId, flags)));
}

async function promoteBuild(shell: Shell, buildId: string, flags: VersionFlags): Promise<ExitCode> {
  const { promote } = await import('../../temporal/versioning/promote.ts');
  const { deployment, previous, changed } = await askServer(shell, flags, async (server) => ({
    deployment: server.deployment,
    ...(await promote(server, { deployment: server.deployment, buildId })),
  }));
  const before = previous === null ? 'before it, none was' : `before it, ${previous} was`;
  const text = changed ? `build ${buildId}: current now; ${before}` : `build ${buildId}: was current`;
  const records = [{ type: 'promoted', deployment, build_id: buildId, previous, changed }];
  writeAnswer(shell.stdout, flags, { records, lines: [printable(text)] });
  if (flags.json !== true && changed && previous !== null)
    shell.stderr.write(`${printable(`to move what is open: parley temporal drain ${previous}`)}\n`);
  return EXIT.ok;
}

interface DrainFlags extends VersionFlags {
  /** Seconds. */
  readonly wait: number;
}

/** Longer than a command takes as a rule; a set-up script may take more. */
const WAIT_SECONDS = 600;
const parseSeconds = numberFrom(0, 86_400, 'a number of seconds');

/** `parley temporal drain`: what is open on an old build moves to the current one. */
export function drainCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('drain')
    .summary('move what is open on an old build to the current one')
    .description(
      'Ask every open entity of a build to go on with the current one, and wait until none is left.',
    )
    .argument('<build>', 'build id, as "parley temporal versions" prints it')
    .option('--wait <seconds>', 'how long to wait', parseSeconds, WAIT_SECONDS)
    .option('--deployment <name>', DEPLOYMENT)
    .shares('address', 'namespace', 'json', 'config')
    .says(
      'Exit codes: 0 nothing is left on it, 2 it cannot be drained, 3 something is left, 4 the server refuses the' +
        '\nkey, 5 it does not answer, 130 Ctrl-C.',
    )
    .examples('parley temporal drain 1.1.0-77d0c4e21ab9')
    .action(ends((buildId: string, flags: DrainFlags) => drainBuild(shell, buildId, flags)));
}

async function drainBuild(shell: Shell, buildId: string, flags: DrainFlags): Promise<ExitCode> {
  const interrupted = new AbortController();
  const stopListening = shell.onInterrupt(() => interrupted.abort());
  try {
    const left = await askServer(shell, flags, async ({ connection, namespace, deployment }) => {
      const { WorkflowClient } = await import('@temporalio/client');
      const { drain } = await import('../../temporal/versioning/drain.ts');
      const progress = await drain({
        connection,
        namespace,
        client: new WorkflowClient({ connection, namespace }),
        version: { deployment, buildId },
        waitMs: flags.wait * 1_000,
        onProgress: progressPrinter(shell, flags),
        signal: interrupted.signal,
      });
      return { ...progress, deployment };
    });
    return finished(shell, { buildId, flags, ...left, isInterrupted: interrupted.signal.aborted });
  } finally {
    stopListening();
  }
}

/** Says what changed, not every look. */
function progressPrinter(shell: Shell, { json }: DrainFlags): (progress: DrainProgress) => void {
  let said = '';
  return ({ asked, left }) => {
    const text = `asked ${asked}, left ${left}`;
    if (text === said) return;
    said = text;
    if (json === true) openRecords(shell.stdout).write({ type: 'drain_progress', asked, left });
    else shell.stderr.write(`${text}\n`);
  };
}

interface Finished extends DrainProgress {
  readonly deployment: string;
  readonly buildId: string;
  readonly flags: DrainFlags;
  readonly isInterrupted: boolean;
}

function finished(
  shell: Shell,
  { deployment, buildId, flags, asked, left, isInterrupted }: Finished,
): ExitCode {
  const rest =
    left === 0 ? 'nothing is open on it' : `${left} are still on it, and move when their work is done`;
  const records = [{ type: 'drained', deployment, build_id: buildId, asked, left }];
  writeAnswer(shell.stdout, flags, { records, lines: [printable(`build ${buildId}: ${rest}`)] });
  if (left === 0) return EXIT.ok;
  return isInterrupted ? EXIT.interrupted : EXIT.incomplete;
}
