/**
 * `parley proxy`: the model proxy as a process of its own.
 * Owns options, signals and what is printed; the proxy and its store are put together by cli/proxy.
 */
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { parsePort } from '../parse-port.ts';
import type { ProxyHost } from '../../host/proxy/proxy-host.ts';
import type { Shell } from '../../host/shell.ts';

const DEFAULT_PORT = 4000;
const MASTER_KEY_VARIABLE = 'PROXY_MASTER_KEY';

interface ProxyFlags {
  readonly config: string;
  readonly port: number;
  readonly host: string;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('proxy')
    .description('Serve the models of a configuration file in front of an external gateway.')
    .requiredOption('--config <file>', 'file with the block "proxy_config"')
    .option('--port <n>', 'TCP port; 0 lets the system choose', parsePort, DEFAULT_PORT)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .says(
      `The key of the admin routes is in ${MASTER_KEY_VARIABLE}. A changed file is taken at once, or by SIGHUP.\nExit codes: 0 stopped by a signal, 2 the configuration cannot be used.`,
    )
    .examples(
      'parley proxy --config parley.yaml',
      'parley proxy --config parley.yaml --port 8080 --host 0.0.0.0',
    )
    .action(ends((flags: ProxyFlags) => serve(shell, flags)));
}

/** Resolves when a signal ends it. */
async function serve(shell: Shell, flags: ProxyFlags): Promise<ExitCode> {
  if (!shell.env[MASTER_KEY_VARIABLE]) {
    throw new CliError(`Cannot serve: ${MASTER_KEY_VARIABLE} is not set, so that nobody could make a key`, {
      remedy: `set ${MASTER_KEY_VARIABLE} to a long random text`,
    });
  }
  const { openProxyHost } = await import('../../host/proxy/proxy-host.ts');
  const host: ProxyHost = await openProxyHost(shell, flags);
  let closing: Promise<void> | null = null;
  const ended = new Promise<void>((resolve, reject) => {
    const stopListening = shell.onInterrupt((signal) => {
      if (signal === 'SIGHUP') {
        void host.reload();
        return;
      }
      closing ??= host.close().then(() => {
        stopListening();
        resolve();
      }, reject);
    });
  });
  shell.stdout.write(`listening on ${host.url}\n`);
  await ended;
  return EXIT.ok;
}
