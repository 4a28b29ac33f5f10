/** `parley temporal`: what it prints and how it ends. Servers are real. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { checkServer } from '../../temporal/check-server.ts';
import { freePort, isPortFree } from '../../loopback/free-port.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { fakeShell, recordsOf, until, type FakeShell } from '../cli/fake-shell.ts';
import { expectGolden } from '../cli/golden-file.ts';
import { PARLEY } from '../cli/parley-program.ts';
import { endProcess } from '../helpers/end-process.ts';
import { describeWith } from '../helpers/requires.ts';
import { requireTemporalCli, startServerForTests } from '../helpers/temporal-tools.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** A server starts, answers and stops. */
const SLOW_MS = 600_000;

function shellWithCli(): FakeShell {
  return fakeShell({ cwd: tempDir(), env: { PARLEY_TEMPORAL_CLI: requireTemporalCli() } });
}

/** What differs from run to run. */
function settled(text: string, shell: FakeShell): string {
  return text
    .replaceAll(shell.cwd, 'FOLDER')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/"pid":\d+/g, '"pid":0');
}

/** Both streams and the exit code, as a person sees them. */
function shown(shell: FakeShell, exitCode: number): string {
  return settled(`${shell.stdout.text}--\n${shell.stderr.text}-- ${exitCode}\n`, shell);
}

async function run(...args: readonly string[]): Promise<string> {
  const shell = fakeShell({ cwd: tempDir() });
  return shown(shell, await runCli(args, shell));
}

describe('parley temporal', () => {
  it('explains each of its commands', async () => {
    const helps = [await run('temporal', 'dev', '--help'), await run('temporal', 'register', '--help')];
    expectGolden('temporal-help.out', helps.join(''));
  });

  it('refuses what it does not know, with the exit code of a wrong command', async () => {
    expect(await run('temporal', 'dve')).toMatch(/unknown command 'dve'[^]*-- 2\n$/);
    expect(await run('temporal', 'dev', '--port', '70000')).toMatch(
      /Give a number from 0 to 65535[^]*-- 2\n$/,
    );
    expect(await run('temporal', 'dev', '--headless', '--ui-port', '1')).toMatch(/cannot be used[^]*-- 2\n$/);
    expect(await run('temporal', 'register', '--retention-days', '0')).toMatch(/from 1 to 365[^]*-- 2\n$/);
  });

  it('says in one sentence that no server answers', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    expectGolden('temporal-no-server.out', await run('temporal', 'register', '--address', address));
    expectGolden(
      'temporal-no-server-json.out',
      await run('temporal', 'register', '--address', address, '--json'),
    );
  });
});

describeWith('temporal', 'parley temporal register', () => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startServerForTests();
  });
  afterAll(() => server?.stop());

  it('makes namespace and search attributes, and the second time nothing', async () => {
    const args = ['temporal', 'register', '--address', server.address, '--namespace', 'team'];
    const outputs = [await run(...args), await run(...args), await run(...args, '--json')];
    expectGolden('temporal-register.out', outputs.join(''));
    await checkServer({ address: server.address, namespace: 'team' });
  });

  it('waits for a server that comes later, and says so', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const shell = fakeShell({ cwd: tempDir() });
    const args = ['temporal', 'register', '--address', address, '--namespace', 'late', '--wait', '10m'];
    const registering = runCli(args, shell);
    await until(() => shell.stderr.text.includes('trying again for 10m\n'));
    await shell.clock.advance(3_000);
    await until(() => shell.stderr.text.includes('trying again for 9m57s\n'));
    const late = await startServerForTests({ port: Number(address.split(':')[1]) });
    onTestFinished(() => late.stop());
    await shell.clock.advance(3_000);
    expect(await registering, shell.stderr.text).toBe(0);
    expect(shell.stdout.text).toContain('namespace late: made');
  });

  it('ends as without the wait when that is over', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const shell = fakeShell({ cwd: tempDir() });
    const registering = runCli(['temporal', 'register', '--address', address, '--wait', '4s'], shell);
    for (const left of ['4s', '1s']) {
      await until(() => shell.stderr.text.includes(`trying again for ${left}\n`));
      await shell.clock.advance(3_000);
    }
    expect(await registering).toBe(5);
    expect(await run('temporal', 'register', '--wait', 'soon')).toMatch(/such as 10m[^]*-- 2\n$/);
  });

  it('takes the server of the deployment', async () => {
    const env = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'deployed' };
    const shell = fakeShell({ cwd: tempDir(), env });
    expect(await runCli(['temporal', 'register', '--retention-days', '2'], shell)).toBe(0);
    expect(shell.stdout.text).toContain('namespace deployed: made, with a retention of 2 days');
  });
});

describeWith('temporal', 'parley temporal dev', () => {
  it(
    'serves until Ctrl-C, and ends cleanly',
    async () => {
      const shell = shellWithCli();
      const running = runCli(['temporal', 'dev', '--port', '0', '--ui-port', '0'], shell);
      await until(() => shell.stderr.text.includes('Ctrl-C'));
      const address = /127\.0\.0\.1:\d+/.exec(shell.stdout.text)?.[0] ?? '';
      await checkServer({ address, namespace: 'default' });
      shell.interrupt();
      expect(await running).toBe(0);
      expectGolden('temporal-dev.out', settled(shell.stdout.text, shell));
      expect(await isPortFree(Number(address.split(':')[1]))).toBe(true);
    },
    SLOW_MS,
  );

  it(
    'tells a program where it is, and that it ended by itself',
    async () => {
      const shell = shellWithCli();
      const flags = ['--port', '0', '--headless', '--db-file', 'data/t.db', '--namespace', 'mine', '--json'];
      const running = runCli(['temporal', 'dev', ...flags], shell);
      await until(() => shell.stdout.text.includes('temporal_server'));
      expect(existsSync(path.join(shell.cwd, 'data/t.db'))).toBe(true);
      process.kill(Number(recordsOf(shell)[1]?.['pid']), 'SIGKILL');
      expect(await running).toBe(5);
      expect(recordsOf(shell)[2]).toMatchObject({ type: 'error', code: 'engine_unreachable', exit_code: 5 });
      const [hello = '', server = ''] = settled(shell.stdout.text, shell).split('\n');
      expectGolden('temporal-dev-json.out', `${hello}\n${server}\n`);
    },
    SLOW_MS,
  );

  it('refuses a port that is taken', async () => {
    const server = await startServerForTests();
    onTestFinished(() => server.stop());
    const shell = shellWithCli();
    const port = server.address.split(':')[1] ?? '';
    expect(await runCli(['temporal', 'dev', '--port', port], shell)).toBe(2);
    expect(shell.stderr.text).toBe(
      `parley: Cannot start a Temporal server: port ${port} is taken\n` +
        '  = end what listens there, or choose another port\n',
    );
  });

  it(
    'takes its server with it when it is killed',
    async () => {
      const args = [PARLEY, 'temporal', 'dev', '--port', '0', '--headless', '--json'];
      const env = { ...process.env, PARLEY_TEMPORAL_CLI: requireTemporalCli() };
      const child = spawn(process.execPath, args, { cwd: tempDir(), env });
      onTestFinished(() => endProcess(child));
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
      await until(() => text.includes('temporal_server'));
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(text)?.[1]);
      expect(await isPortFree(port)).toBe(false);
      child.kill('SIGKILL');
      const pid = Number(/"pid":(\d+)/.exec(text)?.[1]);
      await until(() => !isAlive(pid));
      expect(await isPortFree(port)).toBe(true);
    },
    SLOW_MS,
  );
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
