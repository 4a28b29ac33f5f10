/**
 * `parley temporal drain`: what is open on an old build moves to the current one.
 * Owns what is printed and how long is waited; Ctrl-C ends the waiting, and what was asked moves on.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { DrainProgress } from '../../temporal/versioning/drain.ts';
import { examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { askServer, withServerOptions, type VersionFlags } from './versions-server.ts';

interface DrainFlags extends VersionFlags {
  /** Seconds. */
  readonly wait: number;
}

/** Longer than a command takes as a rule; a set-up script may take more. */
const WAIT_SECONDS = 600;
const WAIT_SECONDS_MAX = 86_400;

export function drainCommand({ shell, finish }: CommandContext): Command {
  const command = new Command()
    .name('drain')
    .summary('move what is open on an old build to the current one')
    .description(
      'Ask every open entity of a build to go on with the current one, and wait until none is left.',
    )
    .argument('<build>', 'build id, as "parley temporal versions" prints it')
    .addOption(
      new Option('--wait <seconds>', 'how long to wait').argParser(parseSeconds).default(WAIT_SECONDS),
    );
  return withServerOptions(command)
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is left on it, 2 it cannot be drained, 3 something is left, 4 the server refuses the' +
        '\nkey, 5 it does not answer, 130 Ctrl-C.',
    )
    .addHelpText('after', examples('parley temporal drain 1.1.0-77d0c4e21ab9'))
    .action(async (buildId: string, flags: DrainFlags) => {
      finish(await drainBuild(shell, buildId, flags));
    });
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
  if (flags.json === true) {
    const fields = { deployment, build_id: buildId, asked, left };
    openRecords(shell.stdout).write({ type: 'drained', ...fields });
  } else {
    const rest =
      left === 0 ? 'nothing is open on it' : `${left} are still on it, and move when their work is done`;
    shell.stdout.write(`${printable(`build ${buildId}: ${rest}`)}\n`);
  }
  if (left === 0) return EXIT.ok;
  return isInterrupted ? EXIT.interrupted : EXIT.incomplete;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= WAIT_SECONDS_MAX) return seconds;
  throw new InvalidArgumentError(`Give a number of seconds from 0 to ${WAIT_SECONDS_MAX}.`);
}
