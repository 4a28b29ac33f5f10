/**
 * Called when the programs are built: `node write-compiled.cjs AGENT-SERVER`. Boots the Agent Server until it has
 * answered, and keeps what V8 has compiled by then beside it. Owns that one boot; runs in no sandbox.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED_SUFFIX, compile, keptCode, runAsMain } from './compiled-code.ts';

/** Between two looks whether it answers, milliseconds. */
const LOOK_MS = 20;
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
    OH_SESSION_API_KEYS_0: 'of-the-build',
  });
  const program = readFileSync(file);
  const script = compile(file, program);
  runAsMain(file, script);
  await answered(socketPath);
  writeFileSync(`${file}${COMPILED_SUFFIX}`, keptCode(program, script));
}

async function answered(socketPath: string): Promise<void> {
  const until = Date.now() + ANSWER_MS;
  while (!(await isHealthy(socketPath))) {
    if (Date.now() > until) throw new Error(`Cannot keep compiled code: no answer after ${ANSWER_MS} ms`);
    await new Promise((wake) => setTimeout(wake, LOOK_MS));
  }
}

function isHealthy(socketPath: string): Promise<boolean> {
  return new Promise((settle) => {
    const probe = request({ socketPath, path: '/health', agent: false }, (response) => {
      response.resume();
      settle(response.statusCode === 200);
    });
    probe.on('error', () => settle(false));
    probe.end();
  });
}

main(process.argv[2] ?? '').then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
