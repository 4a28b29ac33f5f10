/**
 * What is measured against what: each contender as a process pinned to the first core.
 * Owns their start and end; one that is missing is left out with name and reason.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../loopback/free-port.ts';
import { succeeds } from '../../scripts/own-process.ts';
import type * as pythonPeers from '../../scripts/python-peers.js';
import type * as toolCache from '../../scripts/tool-cache.js';

export interface Contender {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for the upstream itself. */
  readonly child: ChildProcess | null;
}

export interface Absent {
  readonly name: string;
  readonly reason: string;
}

export interface Ground {
  /** This bench's own program, to be started again in another role. */
  readonly self: string;
  readonly folder: string;
  readonly upstream: string;
  /** Contenders that take part; the upstream itself always does. */
  readonly names: ReadonlySet<string>;
}

const KEY = 'sk-bench-master';
const PINNED = spawnSync('taskset', ['-V']).status === 0;
/** A Python program takes long to import its modules on a busy machine. */
const READY_TRIES = 240;
const READY_PAUSE_MS = 500;

/** On the given core where the machine can pin, else anywhere. */
export function startOn(
  core: number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  const command = PINNED ? ['taskset', '-c', String(core), ...args] : args;
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

/** The first line that a child prints: its port or its address. */
export async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the child has no output');
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('it ended before it served')));
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [
    string,
  ];
  return line;
}

export async function startContenders(ground: Ground): Promise<{ present: Contender[]; absent: Absent[] }> {
  const present: Contender[] = [{ name: 'direct', url: ground.upstream, headers: {}, child: null }];
  const absent: Absent[] = [];
  for (const [name, start] of STARTS.filter(([one]) => ground.names.has(one))) {
    const started = await start(ground).catch((error: unknown) => String(error));
    if (typeof started === 'string') absent.push({ name, reason: started });
    else present.push({ name, ...started });
  }
  return { present, absent };
}

type Started = Omit<Contender, 'name'>;
type Start = (ground: Ground) => Promise<Started | string>;

const STARTS: readonly (readonly [string, Start])[] = [
  ['bare relay', (ground) => startRelay(ground, 'relay')],
  ['parse relay', (ground) => startRelay(ground, 'parse-relay')],
  ['nginx', startNginx],
  ['parley', startParley],
  ['litellm', startLitellm],
  ['portkey', startPortkey],
];

async function startRelay(ground: Ground, role: string): Promise<Started> {
  const child = startOn(0, [process.execPath, ground.self, '--role', role, '--upstream', ground.upstream]);
  return { url: `http://127.0.0.1:${await firstLine(child)}`, headers: {}, child };
}

/** Compiled code that only forwards: a lower bound for comparison, and no gateway. */
async function startNginx({ folder, upstream }: Ground): Promise<Started | string> {
  if (NGINX_MISSING) return 'it is not installed; Debian has it as nginx-light';
  const port = await freePort();
  const file = path.join(folder, 'nginx.conf');
  writeFileSync(file, nginxConfig({ folder, port, upstream }));
  const child = startOn(0, ['nginx', '-p', folder, '-c', file]);
  return await answering({ url: `http://127.0.0.1:${port}`, headers: {}, child });
}

async function startParley({ folder, upstream }: Ground): Promise<Started> {
  const file = path.join(folder, 'parley.yaml');
  const params = {
    model: 'openai/up',
    api_base: `${upstream}/v1`,
    api_key: 'os.environ/UPSTREAM_KEY',
    input_cost_per_token: '0.000001',
    output_cost_per_token: '0.000002',
    // Without it the calls could not be bounded, and would go one at a time under the budget of the key.
    max_output_tokens: 4_096,
  };
  const entry = { model_name: 'bench', proxyvendor_params: params };
  writeFileSync(file, JSON.stringify({ store: { path: 'data' }, proxy_config: { model_list: [entry] } }));
  const program = ['bin/parley.js', 'proxy', '--config', file, '--port', '0'];
  const child = startOn(0, [process.execPath, ...program], {
    PROXY_MASTER_KEY: KEY,
    UPSTREAM_KEY: 'sk-upstream',
  });
  const url = (await firstLine(child)).replace('listening on ', '');
  const made = await fetch(`${url}/key/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: '{"key_alias":"bench","max_budget":1000000}',
  });
  const { key } = (await made.json()) as { key: string };
  return { url, headers: { authorization: `Bearer ${key}` }, child };
}

async function startLitellm({ folder, upstream }: Ground): Promise<Started | string> {
  const program = await litellmProgram();
  if ('reason' in program) return program.reason;
  const file = path.join(folder, 'litellm.json');
  const params = { model: 'openai/up', api_base: `${upstream}/v1`, api_key: 'sk-upstream' };
  writeFileSync(file, JSON.stringify({ model_list: [{ model_name: 'bench', litellm_params: params }] }));
  const port = await freePort();
  const args = ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'];
  // Uses the list of prices in the package instead of fetching the newest.
  const env = { LITELLM_MASTER_KEY: KEY, LITELLM_LOG: 'ERROR', LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const child = startOn(0, [...program.command, ...args], env);
  const headers = { authorization: `Bearer ${KEY}` };
  return await answering({ url: `http://127.0.0.1:${port}`, headers, child }, '/health/liveliness');
}

async function startPortkey({ upstream }: Ground): Promise<Started | string> {
  const program = await portkeyProgram();
  if ('reason' in program) return program.reason;
  const port = await freePort();
  // It calls no local address unless this setting allows it.
  const env = { TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' };
  const child = startOn(0, [...program.command, `--port=${port}`, '--headless'], env);
  const headers = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
    authorization: 'Bearer sk-upstream',
  };
  return await answering({ url: `http://127.0.0.1:${port}`, headers, child });
}

/** It, once it answers there at all; else what is said of it. */
async function answering(started: Started, path = ''): Promise<Started | string> {
  started.child?.stdout?.resume();
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if (await succeeds(fetch(`${started.url}${path}`))) return started;
    await new Promise((resolve) => setTimeout(resolve, READY_PAUSE_MS));
  }
  return 'it did not answer in time';
}

/** nginx as a reverse proxy: what compiled code needs to forward a call. */
const NGINX_MISSING = spawnSync('nginx', ['-v']).error !== undefined;

/** Unused modules create their folders, too, by default where only root may. */
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

function nginxConfig(of: {
  readonly folder: string;
  readonly port: number;
  readonly upstream: string;
}): string {
  return [
    // One process, so that its processor time is the total.
    'daemon off; master_process off;',
    `pid ${of.folder}/nginx.pid; error_log stderr crit;`,
    'events { worker_connections 2048; }',
    'http {',
    ...TEMPORARY.map((name) => `  ${name}_temp_path ${of.folder}/nginx-${name};`),
    '  access_log off; client_max_body_size 0; client_body_buffer_size 2m; proxy_buffering off;',
    '  keepalive_requests 1000000000;',
    `  upstream gateway { server ${new URL(of.upstream).host}; keepalive 512; keepalive_requests 1000000000; }`,
    `  server { listen 127.0.0.1:${of.port};`,
    '    location / { proxy_pass http://gateway; proxy_http_version 1.1; proxy_set_header Connection ""; }',
    '  }',
    '}',
    '',
  ].join('\n');
}

/** The program and its arguments, or why there is none. */
type PeerProgram = { readonly command: readonly string[] } | { readonly reason: string };

const PORTKEY = '@portkey-ai/gateway';
const PORTKEY_VERSION = '1.15.2';
/** A download that takes longer is not worth the wait. */
const INSTALL_MS_MAX = 300_000;

/** LiteLLM from the environment that the tests use. */
async function litellmProgram(): Promise<PeerProgram> {
  const { peerMissing, peerPython } = await script<typeof pythonPeers>('python-peers.js');
  const missing = peerMissing('litellm', process.env);
  if (missing !== null) return { reason: `${missing}; node scripts/python-peers.js installs it` };
  return { command: [peerPython('litellm', process.env), '-m', 'litellm.proxy.proxy_cli'] };
}

/** Portkey's gateway, installed beside the other tools on its first use; no script of a package runs. */
async function portkeyProgram(): Promise<PeerProgram> {
  const { toolsFolder } = await script<typeof toolCache>('tool-cache.js');
  const folder = path.join(toolsFolder(process.env), 'portkey', PORTKEY_VERSION);
  const program = path.join(folder, 'node_modules', PORTKEY, 'build', 'start-server.js');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
    const npm = spawnSync('npm', [...args, `${PORTKEY}@${PORTKEY_VERSION}`], {
      encoding: 'utf8',
      timeout: INSTALL_MS_MAX,
    });
    const said = npm.error?.message ?? npm.stderr.trim().split('\n').at(-1) ?? '';
    if (npm.status !== 0 || !existsSync(program)) return { reason: `it cannot be installed: ${said}` };
  }
  return { command: [process.execPath, program] };
}

/** Loaded from the repository: bundled with the bench, the script would run as the main program. */
async function script<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(path.resolve('scripts', name)).href)) as T;
}
