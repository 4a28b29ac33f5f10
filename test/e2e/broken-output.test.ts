/** Programs whose output cannot be written: a full disk, a reader that has gone. None ends with a stack trace. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { endProcess } from '../helpers/end-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
type Broken = 'full' | 'closed';

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

interface Started {
  readonly ended: Promise<Ended>;
  /** Resolves once standard error has text that fits. @throws when it ends without. */
  says(text: string): Promise<void>;
}

/** `stdout` and `stderr` are read where they are not broken. */
function start(
  args: readonly string[],
  { stdout, stderr, env = {} }: { stdout?: Broken; stderr?: Broken; env?: Record<string, string> },
): Started {
  const full = openSync('/dev/full', 'w');
  const of = (broken: Broken | undefined): 'pipe' | number => (broken === 'full' ? full : 'pipe');
  const child = spawn(process.execPath, [...args], {
    cwd: tempDir(),
    env: { PATH: process.env['PATH'], HOME: '/nowhere', NO_COLOR: '1', ...env },
    stdio: ['ignore', of(stdout), of(stderr)],
  });
  closeSync(full);
  onTestFinished(() => endProcess(child));
  if (stdout === 'closed') child.stdout?.destroy();
  else child.stdout?.resume();
  if (stderr === 'closed') child.stderr?.destroy();
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code: number | null) => resolve({ code, stderr: text }));
  });
  const says = async (wanted: string): Promise<void> => {
    await expect.poll(() => text.includes(wanted) || child.exitCode !== null).toBe(true);
    expect([child.exitCode, text]).toEqual([null, expect.stringContaining(wanted)]);
  };
  return { ended, says };
}

const SCRIPT = `kind: gateway-script
version: 1
keys: [{ key: sk-test, name: test }]
models: { acme/coder-1: { input: '1', output: '1' } }
scripts: [{ name: any, turns: [{ say: hello, usage: { prompt: 1, completion: 1 } }] }]
`;

it.each(['full', 'closed'] as const)(
  'servers whose standard output is %s say so and go on',
  async (stdout) => {
    const folder = tempDir();
    const script = path.join(folder, 'script.yaml');
    writeFileSync(script, SCRIPT);
    const socket = path.join(folder, 'agent.sock');
    const agent = start([path.join(ROOT, 'dist/agent-server.cjs')], {
      stdout,
      env: { PARLEY_AGENT_SOCKET: socket, OH_CONVERSATIONS_PATH: path.join(folder, 'state') },
    });
    const gateway = start([path.join(ROOT, 'dist/scripted-gateway.js'), script, '--port', '0'], { stdout });
    await agent.says('Cannot say where it listens');
    await gateway.says('Cannot say where it listens');
    expect(existsSync(socket)).toBe(true);
  },
);

it.each(['full', 'closed'] as const)(
  'a command whose standard error is %s keeps its exit code, and an Agent Server that cannot start too',
  async (stderr) => {
    const parley = path.join(ROOT, 'bin/parley.js');
    expect((await start([parley, 'validate', 'missing.yaml'], { stderr }).ended).code).toBe(2);
    const agent = start([path.join(ROOT, 'dist/agent-server.cjs')], {
      stderr,
      env: { PARLEY_AGENT_SOCKET: '/nowhere/agent.sock', OH_CONVERSATIONS_PATH: tempDir() },
    });
    expect((await agent.ended).code).toBe(1);
  },
);

it('a result that a full disk does not take is a sentence, and a reader that has gone is no failure', async () => {
  const parley = path.join(ROOT, 'bin/parley.js');
  const full = await start([parley, 'explain', 'not_found'], { stdout: 'full' }).ended;
  expect(full.code).toBe(1);
  expect(full.stderr).toBe(
    'parley: Cannot write to standard output: ENOSPC: no space left on device, write\n',
  );
  const gone = await start([parley, 'explain', 'not_found'], { stdout: 'closed' }).ended;
  expect(gone).toEqual({ code: 0, stderr: '' });
});
