/**
 * The program that `npm start` runs, around a stand-in for the command line that says how it was called.
 * The repositories, the gateway and its keeper are the real ones; the run itself is tested elsewhere.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const EXAMPLE = path.join(ROOT, 'examples/first-batch');
const GATEWAY = path.join(ROOT, 'dist/scripted-gateway.js');
const BASE_ENV = { PATH: process.env['PATH'] ?? '' };

/** Runs the gateway as the real command does; for all else prints its call, does as `STAND_IN` says, and ends with 3. */
const STAND_IN = `
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
const [command, ...rest] = process.argv.slice(2);
if (command === 'scripted-gateway') {
  const child = spawn(process.execPath, [process.env.GATEWAY, ...rest], { stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code) => process.exit(code));
} else {
  const { PARLEY_EXAMPLE_TOKEN, PARLEY_CONFIG, PARLEY_GATEWAY_URL, PARLEY_GATEWAY_KEY, PARLEY_MODEL } = process.env;
  const env = { PARLEY_EXAMPLE_TOKEN, PARLEY_CONFIG, PARLEY_GATEWAY_URL, PARLEY_GATEWAY_KEY, PARLEY_MODEL };
  const headers = { authorization: 'Bearer ' + PARLEY_GATEWAY_KEY };
  const asked = await fetch(PARLEY_GATEWAY_URL + '/models', { headers }).catch(() => null);
  if (command === 'run') mkdirSync('out/20260101-first-batch', { recursive: true });
  // Listening before the line is printed: whoever reads it may send the signal at once.
  const told = new Promise((resolve) => process.env.STAND_IN === 'wait' && process.once('SIGTERM', resolve));
  console.log(JSON.stringify({ args: [command, ...rest], cwd: process.cwd(), env, called: process.env.PARLEY_COMMAND, status: asked?.status ?? null }));
  if (process.env.STAND_IN === 'wait') {
    const work = setInterval(() => undefined, 1000);
    await told;
    clearInterval(work);
  }
  process.exitCode = 3;
}
`;

interface Call {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How the printed commands begin. */
  readonly called: string;
  /** What the gateway answered to the call for its models; null when there was none. */
  readonly status: number | null;
}

/** A copy of the example beside a stand-in; what it needs of the repository is linked. */
function copyExample(): string {
  const root = tempDir();
  const example = path.join(root, 'examples/first-batch');
  const own = (file: string): boolean => !['.parley', 'out'].includes(path.relative(EXAMPLE, file));
  cpSync(EXAMPLE, example, { recursive: true, filter: own });
  mkdirSync(path.join(root, 'bin'));
  writeFileSync(path.join(root, 'bin/parley.js'), STAND_IN);
  writeFileSync(path.join(root, 'package.json'), '{"type":"module"}');
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  return example;
}

function runMain(example: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const result = spawnSync(process.execPath, [path.join(example, 'main.js'), ...args], {
    encoding: 'utf8',
    env: { ...BASE_ENV, GATEWAY, ...env },
  });
  const call = result.stdout === '' ? null : (JSON.parse(result.stdout) as Call);
  return { status: result.status, stderr: result.stderr, call };
}

describe('main.js with the scripted gateway', () => {
  it('runs the job with repositories, a token and a gateway that is gone afterwards', async () => {
    const example = copyExample();
    const { status, stderr, call } = runMain(example, ['--json']);
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringMatching(/^Results: .*out.20260101-first-batch\n$/),
    });
    expect(call).toMatchObject({ args: ['run', 'job.yaml', '--json'], cwd: example, status: 200 });
    expect(call?.env['PARLEY_EXAMPLE_TOKEN']).toMatch(/^[0-9a-f]{48}$/);
    expect(call?.env).toMatchObject({ PARLEY_CONFIG: 'parley.yaml', PARLEY_MODEL: 'openai/acme/coder-1' });
    expect(existsSync(path.join(example, '.parley/repos/npm/yaml.git/HEAD'))).toBe(true);
    expect(existsSync(path.join(example, '.parley/gateway-ledger.jsonl'))).toBe(true);
    await expect(fetch(`${call?.env['PARLEY_GATEWAY_URL']}/models`)).rejects.toThrow();
  });

  it('says how it was called, so that the command that is printed works where this one was typed', () => {
    const example = copyExample();
    const { call } = runMain(example, []);
    const [node, ...rest] = call?.called.split(' ') ?? [];
    expect(node).toBe('node');
    expect(path.resolve(rest.join(' '))).toBe(path.join(example, 'main.js'));
    expect(runMain(example, [], { PARLEY_COMMAND: 'npm start --' }).call?.called).toBe('npm start --');
  });

  it('passes other commands on and forgets only when it is asked to', () => {
    const example = copyExample();
    const kept = path.join(example, '.parley/kept');
    mkdirSync(path.dirname(kept));
    writeFileSync(kept, '');
    expect(runMain(example, ['resume', 'RUN', '--json']).call?.args).toEqual(['resume', 'RUN', '--json']);
    expect(existsSync(kept)).toBe(true);
    expect(runMain(example, ['plan', '--fresh']).call?.args).toEqual(['plan', 'job.yaml']);
    expect(existsSync(kept)).toBe(false);
  });

  it('passes a signal on and ends with the code of the run', async () => {
    const child = spawn(process.execPath, [path.join(copyExample(), 'main.js')], {
      env: { ...BASE_ENV, GATEWAY, STAND_IN: 'wait' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    const { url } = await callOf(child);
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(3);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('leaves no gateway behind when it is killed', async () => {
    const child = spawn(process.execPath, [path.join(copyExample(), 'main.js')], {
      env: { ...BASE_ENV, GATEWAY, STAND_IN: 'wait' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const { url } = await callOf(child);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await expect
      .poll(
        () =>
          fetch(url).then(
            () => 'answers',
            () => 'gone',
          ),
        { timeout: 10_000 },
      )
      .toBe('gone');
  });
});

/** Waits for the stand-in's line, and returns the address of that run's gateway. */
async function callOf(child: ReturnType<typeof spawn>): Promise<{ readonly url: string }> {
  if (child.stdout === null) throw new Error('the child has no output');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url: `${(JSON.parse(line) as Call).env['PARLEY_GATEWAY_URL']}/models` };
}

describe('main.js with a real gateway', () => {
  const real = {
    PARLEY_GATEWAY_URL: 'http://127.0.0.1:9',
    PARLEY_GATEWAY_KEY: 'sk-own',
    PARLEY_MODEL: 'acme/large',
  };

  it('completes address and model, and reconciles with the rows of the proxy', () => {
    const example = copyExample();
    const { call } = runMain(example, [], { ...real, PARLEY_EXAMPLE_TOKEN: 'mine' });
    const job = call?.args[1] ?? '';
    expect(call?.env).toEqual({
      PARLEY_EXAMPLE_TOKEN: 'mine',
      PARLEY_CONFIG: 'real-gateway.yaml',
      PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/v1',
      PARLEY_GATEWAY_KEY: 'sk-own',
      PARLEY_MODEL: 'openai/acme/large',
    });
    expect(readFileSync(path.join(example, job), 'utf8')).toContain('\n  rows: proxy\n');
    expect(existsSync(path.join(example, path.dirname(job), 'prompts/replace-substr.md'))).toBe(true);
  });

  it('leaves what is complete, and takes the job as it is when there is an export', () => {
    const env = {
      ...real,
      PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/',
      PARLEY_MODEL: 'proxyvendor_proxy/large',
      PARLEY_GATEWAY_EXPORT: 'http://127.0.0.1:9/export',
    };
    const { call } = runMain(copyExample(), [], env);
    expect(call?.args).toEqual(['run', 'job.yaml']);
    expect(call?.env).toMatchObject({
      PARLEY_GATEWAY_URL: 'http://127.0.0.1:9',
      PARLEY_MODEL: 'proxyvendor_proxy/large',
    });
  });

  it('names the settings that are missing, and refuses what is no address', () => {
    expect(
      runMain(EXAMPLE, [], { PARLEY_GATEWAY_URL: 'https://gateway.example.com', PARLEY_MODEL: 'm' }),
    ).toEqual({
      status: 2,
      stderr:
        'first-batch: Cannot use the gateway: set PARLEY_GATEWAY_KEY as well, or unset PARLEY_GATEWAY_URL\n',
      call: null,
    });
    expect(runMain(EXAMPLE, [], { ...real, PARLEY_GATEWAY_URL: 'gateway' })).toEqual({
      status: 2,
      stderr: 'first-batch: Cannot use the gateway: PARLEY_GATEWAY_URL is no http or https address\n',
      call: null,
    });
  });
});
