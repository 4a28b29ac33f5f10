/**
 * Called when the programs are built: `node write-compiled.cjs AGENT-SERVER`. Boots the Agent Server, sends it what
 * every start of a conversation sends, and keeps what V8 has compiled by then beside it. Owns that one boot; runs in no
 * sandbox.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED_SUFFIX, compile, keptCode, runAsMain } from './compiled-code.ts';

/** Of the one boot; nothing it guards leaves this process. */
const KEY = 'of-the-build';
/** Between two probes whether it answers, milliseconds. */
const POLL_MS = 20;
/** A bound against waiting for ever, milliseconds. */
const ANSWER_MS = 60_000;

async function main(file: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'parley-compile-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const socketPath = join(dir, 'agent.sock');
  Object.assign(process.env, {
    PARLEY_AGENT_SOCKET: socketPath,
    PARLEY_WORKSPACE_DIR: dir,
    OH_CONVERSATIONS_PATH: join(dir, 'conversations'),
    OH_SESSION_API_KEYS_0: KEY,
  });
  const program = readFileSync(file);
  const script = compile(file, program);
  runAsMain(file, script);
  await answered(socketPath);
  for (const [route, body] of startOf(dir)) await ask(socketPath, { route, body });
  writeFileSync(`${file}${COMPILED_SUFFIX}`, keptCode(program, script));
}

/** The requests of a start, as activities send them: a command, then a conversation that does nothing yet. */
function startOf(dir: string): readonly (readonly [string, unknown])[] {
  const conversation = {
    workspace: { kind: 'LocalWorkspace', working_dir: dir },
    agent: { kind: 'Agent', llm: { model: 'openai/none', base_url: 'http://127.0.0.1:9/v1', api_key: KEY } },
    secrets: { NONE: 'of-the-build' },
  };
  return [
    ['/api/bash/execute_bash_command', { command: 'true', cwd: dir, timeout: 60 }],
    ['/api/conversations', conversation],
  ];
}

async function answered(socketPath: string): Promise<void> {
  const until = Date.now() + ANSWER_MS;
  while ((await ask(socketPath, { route: '/health' }).catch(() => null)) === null) {
    if (Date.now() > until) throw new Error(`Cannot keep compiled code: no answer after ${ANSWER_MS} ms`);
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}

/** @throws Error when it is refused: then what is compiled is not what a start needs. */
function ask(
  socketPath: string,
  { route, body }: { readonly route: string; readonly body?: unknown },
): Promise<void> {
  const method = body === undefined ? 'GET' : 'POST';
  const headers = { 'content-type': 'application/json', 'x-session-api-key': KEY };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path: route, headers, agent: false }, (response) => {
      response.resume();
      const { statusCode = 0 } = response;
      if (statusCode < 300) response.once('end', resolve);
      else reject(new Error(`Cannot keep compiled code: ${route} was answered ${statusCode}`));
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

// A failing write to standard error must not take the exit code with it.
process.stderr.on('error', () => undefined);
main(process.argv[2] ?? '').then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
