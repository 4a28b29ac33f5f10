/**
 * A stand-in for the Agent Server, as small as a runtime test allows: it answers /health and checks the session key.
 * Owns nothing but that wire; `POST /run` executes a command, so that tests can inspect the sandbox from inside, and
 * `POST /kept` returns what it wrote itself, which tools need not see.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { prepareToolbox, startTool } from '../../agent/toolbox.ts';

/** What `POST /run` answers. */
export interface InsideResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that hangs is ended and says so; one of a loaded machine is not. */
const COMMAND_TIMEOUT_MS = 120_000;
const socket = process.env['PARLEY_AGENT_SOCKET'] ?? '';
const key = process.env['OH_SESSION_API_KEYS_0'];
const workspace = process.env['PARLEY_WORKSPACE_DIR'] ?? '';
delete process.env['OH_SESSION_API_KEYS_0'];

if (existsSync(`${workspace}/die-at-boot`)) {
  process.stderr.write('stand-in agent: told to die\n');
  process.exit(3);
}
rmSync(socket, { force: true });
prepareToolbox();
// One line for each boot, where conversations would be kept: tests count them.
const conversations = process.env['OH_CONVERSATIONS_PATH'] ?? '/tmp/conversations';
mkdirSync(conversations, { recursive: true });
appendFileSync(`${conversations}/boots`, `${process.env['PARLEY_SANDBOX_GENERATION'] ?? ''}\n`);

/** As the Agent Server starts its tools: beside itself, or in a place of their own where it is given one. */
async function run(command: string, response: ServerResponse): Promise<void> {
  const given = `${workspace}/tool-environment.json`;
  const more = existsSync(given) ? (JSON.parse(readFileSync(given, 'utf8')) as Record<string, string>) : {};
  const env = { ...(process.env as Record<string, string>), ...more };
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const { child, signal } = await startTool('/bin/sh', ['-c', command], { cwd: workspace, env, stdio });
  let late = '';
  const timer = setTimeout(() => {
    late = `stand-in agent: ended after ${COMMAND_TIMEOUT_MS} ms\n`;
    signal('SIGKILL');
  }, COMMAND_TIMEOUT_MS);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all(
    [child.stdout, child.stderr].map((one) => (one ? text(one) : '')),
  );
  const code = (await ended) ?? -1;
  const result: InsideResult = { code, stdout: stdout ?? '', stderr: `${stderr ?? ''}${late}` };
  clearTimeout(timer);
  response.end(JSON.stringify(result));
}

/** Takes that much memory and keeps it. */
function grow(bytes: number): void {
  const chunk = 1024 * 1024;
  const kept: Buffer[] = [];
  while (kept.length * chunk < bytes) kept.push(Buffer.alloc(chunk, 1));
}

const server = createServer((request, response) => {
  if (request.url === '/health') {
    response.writeHead(existsSync(`${workspace}/never-ready`) ? 503 : 200).end('{"status":"ok"}');
    return;
  }
  if (request.headers['x-session-api-key'] !== key) {
    response.writeHead(401).end('{"detail":"Unauthorized"}');
    return;
  }
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    if (request.url === '/exit') process.exit(Number(body));
    else if (request.url === '/kept') response.end(readFileSync(`${conversations}/${body}`));
    else if (request.url === '/grow') grow(Number(body));
    else if (request.url === '/print') process.stdout.write(body, () => response.end());
    else void run(body, response);
  });
});
server.listen(socket);
process.on('SIGTERM', () => {
  // Distinguished from a kill: tests check whether the end was requested.
  appendFileSync(`${conversations}/asked-to-end`, `${process.env['PARLEY_SANDBOX_GENERATION'] ?? ''}\n`);
  process.exit(0);
});
