/**
 * `parley codec-server`: makes encrypted histories readable in Temporal's web UI and command line.
 * Owns options, environment and the end by a signal; answers come from cli/codec.
 */
import { isIP } from 'node:net';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CODEC_KEYS_VARIABLE, type CodecKeys } from '../../temporal/codec/codec-keys.ts';
import { payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import { CliError } from '../../host/cli-error.ts';
import { startCodecServer, type CodecServer, type CodecServerOptions } from '../codec/codec-server.ts';
import { configOption, examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { parsePort } from '../parse-port.ts';
import type { Shell } from '../../host/shell.ts';

const TOKEN_VARIABLE = 'PARLEY_CODEC_SERVER_TOKEN';
/** Beside the web UI of Temporal's dev server. */
const DEFAULT_PORT = 8234;
/** The web UI of Temporal's dev server, by both names of this machine. */
const DEFAULT_ORIGINS = ['http://127.0.0.1:8233', 'http://localhost:8233'];

interface CodecServerFlags {
  readonly port: number;
  readonly host: string;
  readonly allowOrigin?: readonly string[];
  readonly config?: string;
}

export function codecServerCommand({ shell, ends }: CommandContext): Command {
  return new Command('codec-server')
    .description("Decrypt payloads for Temporal's web UI and command line.")
    .addOption(
      new Option('--port <n>', 'TCP port; 0 lets the system choose')
        .argParser(parsePort)
        .default(DEFAULT_PORT),
    )
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(
      new Option(
        '--allow-origin <url>',
        `page that may ask; can be given again (default: ${DEFAULT_ORIGINS.join(', ')})`,
      ).argParser((text, before: readonly string[] = []) => [...before, parseOrigin(text)]),
    )
    .addOption(configOption())
    .addHelpText(
      'after',
      `\nKeys are in ${CODEC_KEYS_VARIABLE}, and the seal key of the deployment is one; ${TOKEN_VARIABLE} asks for a token.`,
    )
    .addHelpText('after', 'Exit codes: 0 stopped by a signal, 2 a key or an address cannot be used.')
    .addHelpText(
      'after',
      examples('parley codec-server', 'parley codec-server --allow-origin https://temporal.example.com'),
    )
    .action(ends((flags: CodecServerFlags) => serve(shell, flags)));
}

/** Resolves when a signal ends it. */
async function serve(shell: Shell, flags: CodecServerFlags): Promise<ExitCode> {
  const token = shell.env[TOKEN_VARIABLE] || null;
  if (token === null && !isLoopback(flags.host)) {
    throw new CliError(`Cannot listen on "${flags.host}" without a token: others could read every payload`, {
      remedy: `set ${TOKEN_VARIABLE}, or leave out --host`,
    });
  }
  const server = await listen({
    codec: payloadCodecOf(await readKeys(shell, flags)),
    host: flags.host,
    port: flags.port,
    allowedOrigins: flags.allowOrigin ?? DEFAULT_ORIGINS,
    token,
  });
  const ended = new Promise<void>((resolve) => {
    const stopListening = shell.onInterrupt(() => {
      stopListening();
      resolve();
    });
  });
  shell.stdout.write(`listening on ${server.url}\n`);
  await ended;
  await server.close();
  return EXIT.ok;
}

/** A deployment that has never run has no seal key; whoever only looks in the wrong place is told. */
async function readKeys(shell: Shell, flags: CodecServerFlags): Promise<CodecKeys | null> {
  const { env } = shell;
  const { codecKeysOf, knownSealKey } = await import('../../host/engines/temporal-codec.ts');
  // Before the deployment, which would say the same of them in more words.
  codecKeysOf({ env, sealKey: null });
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  const keys = codecKeysOf({ env, sealKey: knownSealKey(env, config.dataDir) });
  if (keys === null)
    shell.stderr.write(
      `no ${CODEC_KEYS_VARIABLE} and no seal key: it opens what is compressed, and nothing sealed\n`,
    );
  return keys;
}

async function listen(options: CodecServerOptions): Promise<CodecServer> {
  try {
    return await startCodecServer(options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CliError(`Cannot listen on port ${options.port} of "${options.host}": ${code}`, {
      remedy: 'choose another --port or --host',
    });
  }
}

/** Compared as text with what a browser sends, so that a path or a final slash would never match. */
function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.origin === text) return text;
  throw new InvalidArgumentError('Give scheme, host and port as in http://127.0.0.1:8233.');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
