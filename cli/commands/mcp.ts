/**
 * `parley mcp`: the work of a deployment as tools for other agents, on standard input and output or over HTTP.
 * Owns options, where the key comes from, and the end; the tools are in cli/mcp/.
 */
import path from 'node:path';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { ApiLink, ApiLinkOptions } from '../mcp/api-link.ts';
import { endSignals } from '../end-signals.ts';
import { parsePort } from '../parse-port.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import { isLoopback } from '../../host/listening.ts';
import { secretOf } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';

interface McpOptions extends ApiLinkOptions {
  readonly http?: true;
  readonly port: number;
  readonly host: string;
  readonly key?: string;
  readonly allowHost: readonly string[];
  readonly allowOrigin: readonly string[];
  readonly jobs?: string;
  readonly json?: true;
}

const LOOPBACK = '127.0.0.1';
/** Beside the application API. */
const PORT_DEFAULT = 3_040;
const KEY_VARIABLE = 'PARLEY_MCP_KEY';
const KEY_HEX_DIGITS = 64;

const CLIENT_SNIPPET = `In the configuration of a client, on pipes:
  { "mcpServers": { "parley": { "command": "parley", "args": ["mcp", "--config", "/srv/team/parley.yaml"] } } }
and of one that reaches it over HTTP:
  { "mcpServers": { "parley": { "url": "http://127.0.0.1:3040/mcp", "headers": { "Authorization": "Bearer KEY" } } } }`;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('mcp')
    .description(
      'Serve the deployment as tools of the Model Context Protocol, so that other agents delegate.',
    )
    .option('--http', 'serve Streamable HTTP instead of standard input and output')
    .option('--port <n>', 'with --http: port; 0 takes a free one', parsePort, PORT_DEFAULT)
    .option('--host <address>', 'with --http: address', LOOPBACK)
    .option('--key <where>', `with --http: env:NAME or file:PATH of its key (default: env:${KEY_VARIABLE})`)
    .option('--allow-host <name...>', 'with --http: further names it is reached by', [])
    .option('--allow-origin <origin...>', 'with --http: origins of pages that may call', [])
    .option('--jobs <dir>', 'folder below which job files are named (default: the current one)')
    .shares('engine', 'json', 'config', 'server')
    .says(
      'Tools: start, events, send for one conversation; plan, run for a job; status, results, cancel for both.' +
        '\nIt asks the service of --server, else the process that owns the data directory, else it is that process itself.' +
        '\nWithout a key, on an address of this machine alone, --http makes one and prints it once.',
    )
    .says(CLIENT_SNIPPET)
    .says('Exit codes: 0 the client has left or a signal ended it, 2 it cannot begin, 4 no key.')
    .examples(
      'parley mcp',
      'parley mcp --server https://parley.example.com --api-key file:key.txt',
      'parley mcp --http --port 3040 --jobs ./jobs',
    )
    .action(ends((options: McpOptions) => serve(shell, options)));
}

async function serve(shell: Shell, options: McpOptions): Promise<ExitCode> {
  refuseHttpOptions(options);
  const key = options.http === true ? httpKey(shell, options) : null;
  const { openApiLink } = await import('../mcp/api-link.ts');
  const end = endSignals(shell);
  const link = await openApiLink(shell, options);
  try {
    const stop = await (key === null
      ? servePipes(shell, link, options, end.ask)
      : serveAddress(shell, link, { ...options, key }));
    await Promise.race([end.asked, link.ended]);
    await stop();
    return EXIT.ok;
  } finally {
    end.stopListening();
    await link.close();
  }
}

type Stop = () => Promise<void>;

async function serverOf(
  shell: Shell,
  link: ApiLink,
  { jobs, config }: Pick<McpOptions, 'jobs' | 'config'>,
  hidden: readonly string[] = [],
) {
  const { createMcpServer } = await import('../mcp/mcp-server.ts');
  const root = path.resolve(shell.cwd, jobs ?? '.');
  const { client, isHere } = link;
  return () =>
    createMcpServer({
      desk: { client, shell, config, root, isHere },
      version: shell.version,
      hidden: [...link.hidden, ...hidden],
      onBug: (error) => void shell.stderr.write(`parley mcp: ${printable(String(error))}\n`),
    });
}

/** Standard output belongs to the protocol from here on. */
async function servePipes(
  shell: Shell,
  link: ApiLink,
  options: McpOptions,
  onEnd: () => void,
): Promise<Stop> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const server = (await serverOf(shell, link, options))();
  const transport = new StdioServerTransport();
  server.onclose = onEnd;
  process.stdin.once('end', onEnd).once('close', onEnd);
  process.stdout.once('error', onEnd);
  await server.connect(transport);
  return () => server.close();
}

async function serveAddress(
  shell: Shell,
  link: ApiLink,
  options: Omit<McpOptions, 'key'> & { readonly key: HttpKey },
): Promise<Stop> {
  const { serveHttp } = await import('../mcp/serve-http.ts');
  const { key, host, port, allowHost, allowOrigin, json } = options;
  const createServer = await serverOf(shell, link, options, [key.text]);
  const served = await serveHttp({
    ...{ host, port, key: key.text, createServer },
    allowedHosts: allowHost.map((name) => name.toLowerCase()),
    allowedOrigins: allowOrigin,
  });
  if (json === true) {
    openRecords(shell.stdout).write({ type: 'serving', url: served.url, key: key.isNew ? key.text : null });
  } else {
    shell.stdout.write(`serving  ${served.url}\n`);
    if (key.isNew) shell.stdout.write(`key      ${key.text}\n`);
    shell.stderr.write('Ctrl-C ends it\n');
  }
  return () => served.close();
}

interface HttpKey {
  readonly text: string;
  readonly isNew: boolean;
}

/** @throws CliError */
function httpKey(shell: Shell, { key, host }: McpOptions): HttpKey {
  const text = secretOf(shell, key ?? `env:${KEY_VARIABLE}`, '--key');
  if (text !== null) return { text, isNew: false };
  if (key === undefined && isLoopback(host)) return { text: shell.randomHex(KEY_HEX_DIGITS), isNew: true };
  throw new CliError(`Cannot serve${isLoopback(host) ? '' : ' beyond this machine'}: there is no key`, {
    remedy: `set ${KEY_VARIABLE}, or say with --key where the key is`,
    exitCode: EXIT.unauthorized,
  });
}

function refuseHttpOptions({ http, key, allowHost, allowOrigin, json }: McpOptions): void {
  const isHttpOnly = key !== undefined || allowHost.length > 0 || allowOrigin.length > 0 || json === true;
  if (http === true || !isHttpOnly) return;
  throw new CliError(
    'Cannot use --key, --allow-host, --allow-origin or --json: nothing is served over HTTP',
    {
      remedy: 'add --http',
    },
  );
}
