/**
 * The program that runs a real OpenHands Agent Server in place of the reference one: it starts that server's Python
 * process on a loopback port and leads the sandbox's socket there.
 * Owns the child's environment, the way in, and ending with it. Must not read or change what passes.
 * Exit codes: those of the child; 70 when it was never started.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Exit code when the server was never started, as that of the sandbox's first program. */
const SETUP_FAILED = 70;
/** No connection is let in until the port takes connections: a socket that answers means a server that does. */
const POLL_MS = 50;
const FORWARDED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The interpreter that has the packages; host/sandboxes/runtime-of.ts writes it in front of this program. */
const GIVEN_PYTHON = (globalThis as { readonly parleyOpenhandsPython?: string }).parleyOpenhandsPython;

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`Cannot start Agent Server: ${name} is not set`);
  return value;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What the server reads; the rest is for the shells it starts. */
function environment(stateDir: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_'));
  return {
    ...Object.fromEntries(inherited),
    OH_BASH_EVENTS_DIR: join(stateDir, 'bash-events'),
    OH_ENABLE_VSCODE: 'false',
    OH_ENABLE_VNC: 'false',
    // The browser's tools would be loaded at every start.
    OH_PRELOAD_TOOLS: 'false',
    // Its list of prices is in the package; the newest would be fetched.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    OPENHANDS_SUPPRESS_BANNER: '1',
    PYTHONUNBUFFERED: '1',
    // Its events have times without a zone, which are read as UTC.
    TZ: 'UTC',
  };
}

async function answers(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Bytes both ways between a caller at the socket and the server. */
function lead(socketPath: string, port: number): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    const inner = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    caller.on('error', () => inner.destroy());
    inner.on('error', () => caller.destroy());
    caller.on('close', () => inner.destroy());
    inner.on('close', () => caller.destroy());
    caller.pipe(inner);
    inner.pipe(caller);
  });
  // No other process listens there: the runtime clears the folder before a start.
  rmSync(socketPath, { force: true });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
}

async function main(): Promise<void> {
  const socketPath = required('PARLEY_AGENT_SOCKET');
  const workspaceDir = required('PARLEY_WORKSPACE_DIR');
  const stateDir = dirname(required('OH_CONVERSATIONS_PATH'));
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const port = await freePort();
  const args = ['-m', 'openhands.agent_server', '--host', '127.0.0.1', '--port', String(port)];
  const child = spawn(GIVEN_PYTHON ?? 'python3', args, {
    cwd: workspaceDir,
    env: environment(stateDir),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  delete process.env['OH_SESSION_API_KEYS_0'];
  child.on('error', (error) => fail(error));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal));
  while (!(await answers(port))) await delay(POLL_MS);
  await lead(socketPath, port);
  process.stdout.write(`${JSON.stringify({ type: 'listening', address: `unix:${socketPath}` })}\n`);
}

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(SETUP_FAILED);
}

/** A full disk or a reader that has gone loses the line that says where it listens, but does not end the server. */
process.stdout.on('error', ({ message }) => {
  process.stderr.write(`Cannot say where it listens: ${message}; it goes on\n`);
});
process.stderr.on('error', () => undefined);
main().catch(fail);
