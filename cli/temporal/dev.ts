/**
 * `parley temporal dev`: a Temporal server for development, in the foreground until Ctrl-C.
 * Owns what is printed and the end; the server itself is started by temporal/dev-server.
 */
import path from 'node:path';
import { Option } from 'commander';
import { ParleyError } from '../../core/parley-error.ts';
import type { DevServer, DevServerOptions } from '../../temporal/dev-server/start-dev-server.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { parsePort } from '../parse-port.ts';
import { openRecords } from '../../host/records.ts';
import { padded, printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { serverOf } from './server-options.ts';

interface DevFlags extends Flags {
  readonly port: number;
  readonly uiPort: number;
  readonly headless?: true;
  readonly dbFile?: string;
  readonly namespace?: string;
}

const DEFAULT_PORT = 7233;
/** Where the tools of Temporal expect the user interface. */
const DEFAULT_UI_PORT = 8233;

export function devCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('dev')
    .summary('run a Temporal server for development')
    .description('Run a Temporal server for development, in the foreground. It listens on loopback only.')
    .option('--port <n>', 'TCP port; 0 takes a free one', parsePort, DEFAULT_PORT)
    .option('--ui-port <n>', 'TCP port of the user interface; 0 takes a free one', parsePort, DEFAULT_UI_PORT)
    .addOption(new Option('--headless', 'no user interface').conflicts('uiPort'))
    .option('--db-file <file>', 'keep everything in this file (default: in memory)')
    .shares('namespace', 'json', 'config')
    .says('Exit codes: 0 stopped by Ctrl-C, 2 it cannot be started so, 5 the server ended by itself.')
    .examples('parley temporal dev', 'parley temporal dev --db-file .parley/temporal.db')
    .action(ends((flags: DevFlags) => serve(shell, flags)));
}

/** Resolves when a signal ends it. @throws ParleyError engine_misconfigured, engine_unreachable */
async function serve(shell: Shell, flags: DevFlags): Promise<ExitCode> {
  const interrupted = new AbortController();
  const stopListening = shell.onInterrupt(() => interrupted.abort());
  try {
    const { namespace } = await serverOf(shell, flags);
    const { startDevServer } = await import('../../temporal/dev-server/start-dev-server.ts');
    const options = { ...optionsOf(shell, flags), namespace };
    const server = await startDevServer({ ...options, signal: interrupted.signal });
    print(shell, { flags, server, databaseFile: options.databaseFile ?? null });
    const end = await server.ended;
    if (end.stopped) return EXIT.ok;
    const because = end.lastLine === null ? 'it ended by itself' : `it said "${end.lastLine}"`;
    throw new ParleyError('engine_unreachable', `Cannot go on with the Temporal server: ${because}`);
  } catch (error) {
    if (interrupted.signal.aborted) return EXIT.ok;
    throw error;
  } finally {
    stopListening();
  }
}

function optionsOf(shell: Shell, flags: DevFlags): Omit<DevServerOptions, 'namespace'> {
  return {
    env: shell.env,
    logLevel: 'warn',
    onLogLine: (line) => void shell.stderr.write(`${printable(line)}\n`),
    port: flags.port,
    ...(flags.headless === true ? {} : { uiPort: flags.uiPort }),
    ...(flags.dbFile === undefined ? {} : { databaseFile: path.resolve(shell.cwd, flags.dbFile) }),
  };
}

interface Started {
  readonly flags: DevFlags;
  readonly server: DevServer;
  readonly databaseFile: string | null;
}

function print(shell: Shell, { flags, server, databaseFile }: Started): void {
  const { address, namespace, uiUrl, pid } = server;
  if (flags.json === true) {
    const fields = { address, namespace, ui_url: uiUrl, database_file: databaseFile, pid };
    openRecords(shell.stdout).write({ type: 'temporal_server', ...fields });
    return;
  }
  const rows = [
    ['address', address],
    ['namespace', namespace],
    ['web', uiUrl ?? 'none'],
    ['database', databaseFile ?? 'in memory, gone at the end'],
    ['parley.yaml', `engine: { kind: temporal, address: '${address}', namespace: ${namespace} }`],
    ['or', `export TEMPORAL_ADDRESS=${address} PARLEY_ENGINE=temporal`],
    ['then', 'parley worker, and beside it parley run JOB'],
  ];
  for (const [name = '', value = ''] of rows) {
    shell.stdout.write(`${padded(name, NAME_WIDTH, 'left')}  ${printable(value)}\n`);
  }
  shell.stderr.write('Ctrl-C ends it\n');
}

const NAME_WIDTH = 11;
