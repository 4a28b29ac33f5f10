/**
 * The commands of docs/temporal.md, as they are printed there and in that order, each in a terminal of its own.
 * They run in a network of their own, because they say which ports they use.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { PARLEY, ROOT } from '../cli/parley-program.ts';
import { endProcess } from '../helpers/end-process.ts';
import { runningProgram, type RunningProgram } from '../e2e/running-program.ts';
import { printedBlocks } from '../helpers/printed-commands.ts';
import { describeWith, missing } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ALL_MS_MAX = 600_000;
const SCRIPT = `kind: gateway-script
version: 1
keys: [{ key: sk-documented, name: documented }]
models: { acme/coder-1: { input: '3', output: '15' } }
scripts:
  - name: any
    turns:
      - { say: I write it., tool: terminal, arguments: { command: echo hello > hello.txt } }
      - { tool: finish, arguments: { message: Done. } }
`;
/** These stay, until the user who began them ends them. */
const STAY = ['parley temporal dev', 'parley worker --engine temporal'];
/** Shown by test/images, with the images that it needs. */
const ELSEWHERE = ['docker compose -f temporal-compose.yml up --detach --wait'];

function documented(): readonly string[] {
  return printedBlocks(readFileSync(path.join(ROOT, 'docs/temporal.md'), 'utf8'))
    .flatMap((block) => block.split('\n'))
    .map((line) => line.replace(/\s+#.*/, ''))
    .filter(Boolean);
}

describeWith(missing('temporal') === null ? 'network' : 'temporal', 'what docs/temporal.md says', () => {
  it(
    'is typed as it stands, and a job is done by the server, the worker and the command that it names',
    async () => {
      const folder = tempDir();
      const network = await openNetwork();
      const bin = tempDir();
      writeFileSync(path.join(bin, 'parley'), `#!/bin/sh\nexec "${process.execPath}" "${PARLEY}" "$@"\n`);
      chmodSync(path.join(bin, 'parley'), 0o755);
      const env: Record<string, string | undefined> = {
        ...process.env,
        ...{ PATH: `${bin}${path.delimiter}${process.env['PATH'] ?? ''}`, NO_COLOR: '1' },
        ...{ PARLEY_MODEL: 'openai/acme/coder-1', PARLEY_GATEWAY_KEY: 'sk-documented' },
      };
      const type = (command: string): RunningProgram => typed(command, { folder, network, env });
      writeFileSync(path.join(folder, 'gateway.yaml'), SCRIPT);
      const gateway = type(`node "${path.join(ROOT, 'dist/scripted-gateway.js')}" gateway.yaml`);
      env['PARLEY_GATEWAY_URL'] = `${await gateway.line(/"url":"([^"]+)"/)}/v1`;
      expect((await type('parley init').ended).code).toBe(0);

      const outcomes: string[] = [];
      for (const command of documented()) {
        if (ELSEWHERE.includes(command)) continue;
        const [, name, value] = /^export (\w+)=(\S+)$/.exec(command) ?? [];
        if (name !== undefined) {
          env[name] = value;
          continue;
        }
        const program = type(command);
        if (STAY.includes(command)) expect(await program.says(/Ctrl-C ends it/), command).toBe(true);
        else {
          const { code, stdout, stderr } = await program.ended;
          const text = `${stdout}${stderr}`;
          outcomes.push(`${code} ${/done 1\/1/.test(text)} ${/so one was started/.test(text)}`);
        }
      }
      // The first begins a server of its own, the second finds the one that was begun.
      expect(outcomes).toEqual(['0 true true', '0 true false']);
    },
    ALL_MS_MAX,
  );
});

interface Terminal {
  readonly folder: string;
  readonly network: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Ends with the test, and whatever it has begun with it. */
function typed(command: string, { folder, network, env }: Terminal): RunningProgram {
  const inside = ['--net', `--target=${network}`, 'sh', '-c', `exec ${command}`];
  const child = spawn('nsenter', inside, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => endProcess(child, 'SIGTERM'));
  return runningProgram(child);
}

/** A network with a loopback of its own: the process that holds it open. */
async function openNetwork(): Promise<number> {
  const child: ChildProcess = spawn(
    'unshare',
    ['--net', 'sh', '-c', 'ip link set lo up && echo up && exec sleep infinity'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  onTestFinished(() => endProcess(child));
  if (child.stdout === null || child.pid === undefined) throw new Error('unshare was not started');
  for await (const line of createInterface({ input: child.stdout })) if (line === 'up') return child.pid;
  throw new Error('there is no network of its own here');
}
