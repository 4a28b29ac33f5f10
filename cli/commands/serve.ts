/**
 * `parley serve`: the application API on the deployment's engine, until a signal ends it.
 * Owns the start line and the end: once lets answers end, twice ends at once; the API itself belongs to the host.
 */
import { Option } from 'commander';
import path from 'node:path';
import { CliCommand, type CommandContext, type HostFlags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { Host } from '../../host/host-port.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { endSignals, type EndSignals } from '../end-signals.ts';
import { parsePort } from '../parse-port.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';

interface ServeOptions extends HostFlags {
  readonly port: number;
  readonly host: string;
  readonly data?: string;
  readonly dialect: 'spec' | 'openhands';
  readonly corsOrigin: readonly string[];
  readonly publicUrl?: string;
  readonly accessLog?: true;
  readonly worker: boolean;
  readonly awaitKey?: true;
}

const LOOPBACK = '127.0.0.1';
/** Nothing else of ours listens there. */
const PORT_DEFAULT = 3_030;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('serve')
    .description('Serve the application API, in the foreground.')
    .option('--port <n>', 'port of the API; 0 takes a free one', parsePort, PORT_DEFAULT)
    .option('--host <address>', 'address of the API', LOOPBACK)
    .option('--data <dir>', 'data directory, instead of store.path')
    .addOption(
      new Option('--dialect <name>', 'spelling of the API').choices(['spec', 'openhands']).default('spec'),
    )
    .option('--cors-origin <origin...>', 'origins of browsers that may call', [])
    .option('--public-url <url>', 'where clients reach the API, behind a proxy of your own')
    .option('--access-log', 'print one JSON line per request to standard error')
    .option('--no-worker', 'leave the work to "parley worker" on Temporal, also while there is none')
    .option('--await-key', 'beyond this machine, wait for the first API key instead of ending without one')
    .shares('engine', 'json', 'config')
    .says(
      'Without an API key, on an address of this machine alone, one is made and printed once.' +
        '\nCtrl-C or SIGTERM once ends it after the answers under way; twice ends at once.' +
        '\nConversations and sandboxes go on with the next start.',
    )
    .examples('parley serve', 'parley serve --port 8080 --data ./data --json')
    .action(ends((options: ServeOptions) => serve(shell, options)));
}

async function serve(shell: Shell, options: ServeOptions): Promise<ExitCode> {
  const { config: file, engine, data } = options;
  const config = await openDeployment(shell, { path: file, startsProxy: true, engine });
  const dataDir = data === undefined ? config.dataDir : path.resolve(shell.cwd, data);
  const end = endSignals(
    shell,
    () => void shell.stderr.write('stopping: answers under way end; a second signal ends it at once\n'),
  );
  try {
    const port = await shell.hostPort();
    const opening = port.openHost(
      { ...config, dataDir },
      {
        onNotice: (text) => void shell.stderr.write(`${printable(text)}\n`),
        onlyAsks: !options.worker,
        application: {
          host: options.host,
          port: options.port,
          dialect: options.dialect,
          corsOrigins: options.corsOrigin,
          publicUrl: options.publicUrl?.replace(/\/+$/, '') ?? null,
          version: shell.version,
          awaitsKey: options.awaitKey === true,
          onAccess: (line) => {
            if (options.accessLog === true) shell.stderr.write(`${JSON.stringify(line)}\n`);
          },
        },
      },
    );
    // Nothing is answered yet that could end first, and the wait for a key may last.
    const left = options.awaitKey === true ? end.asked.then(() => null) : end.cutOff;
    const host = await Promise.race([opening, left]);
    if (host === null) return EXIT.interrupted;
    sayServing(shell, host, options);
    return await untilEnd(host, end);
  } finally {
    end.stopListening();
  }
}

function sayServing(shell: Shell, { application, engine }: Host, { json }: ServeOptions): void {
  const { url = '', firstKey = null } = application ?? {};
  if (json === true) {
    openRecords(shell.stdout).write({ type: 'serving', url, engine: engine.kind, key: firstKey });
    return;
  }
  shell.stdout.write(`serving  ${url}\n`);
  if (firstKey !== null) shell.stdout.write(`key      ${firstKey}\n`);
  shell.stderr.write('Ctrl-C ends it\n');
}

/** @throws why the engine cannot go on */
async function untilEnd(host: Host, { asked, cutOff }: EndSignals): Promise<ExitCode> {
  try {
    await Promise.race([asked, host.ended]);
  } catch (error) {
    await host.close().catch(() => undefined);
    throw error;
  }
  const ended = await Promise.race([host.close().then(() => true as const), cutOff]);
  return ended === null ? EXIT.interrupted : EXIT.ok;
}
