/**
 * `parley codec-server`: makes encrypted histories readable in Temporal's web UI and command line.
 * Owns options, environment and the end by a signal; answers come from cli/codec.
 */
import { InvalidArgumentError } from 'commander';
import { CODEC_KEYS_VARIABLE, type CodecKeys } from '../../temporal/codec/codec-keys.ts';
import { payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import { CliError } from '../../host/cli-error.ts';
import { startCodecServer } from '../codec/codec-server.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { endSignals } from '../end-signals.ts';
import { isLoopback, listening } from '../../host/listening.ts';
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

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('codec-server')
    .description("Decrypt payloads for Temporal's web UI and command line.")
    .option('--port <n>', 'TCP port; 0 lets the system choose', parsePort, DEFAULT_PORT)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--allow-origin <url>',
      `page that may ask; can be given again (default: ${DEFAULT_ORIGINS.join(', ')})`,
      (text, before: readonly string[] = []) => [...before, parseOrigin(text)],
    )
    .shares('config')
    .says(
      `Keys are in ${CODEC_KEYS_VARIABLE}, and the seal key of the deployment is one; ${TOKEN_VARIABLE} asks for a token.\nExit codes: 0 stopped by a signal, 2 a key or an address cannot be used.`,
    )
    .examples('parley codec-server', 'parley codec-server --allow-origin https://temporal.example.com')
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
  const { host, port, allowOrigin: allowedOrigins = DEFAULT_ORIGINS } = flags;
  const codec = payloadCodecOf(await readKeys(shell, flags));
  const server = await listening(flags, () => startCodecServer({ codec, host, port, allowedOrigins, token }));
  const end = endSignals(shell);
  shell.stdout.write(`listening on ${server.url}\n`);
  await end.asked;
  end.stopListening();
  await server.close();
  return EXIT.ok;
}

/** A deployment that has never run has no seal key; the message also warns a user with the wrong configuration. */
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

/** Compared as text with what a browser sends, so that a path or a final slash would never match. */
function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.origin === text) return text;
  throw new InvalidArgumentError('Give scheme, host and port as in http://127.0.0.1:8233.');
}
