/**
 * The package as users get it: packed, installed for all users into an empty prefix, and used from a folder without a
 * checkout. What only Temporal, Docker or a cluster needs is not in it, and is requested by name.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../cli/parley-program.ts';
import { expectTutorial } from '../e2e/typed-tutorial.ts';
import { describeWith } from '../helpers/requires.ts';
import { expectTyped, typeReadme } from './typed-readme.ts';
import { removeDir, tempDir } from '../helpers/temp-dir.ts';

const run = promisify(execFile);
/** What belongs only to developers of Parley. */
const OF_THE_CHECKOUT = /^package\/(test|bench|scripts|core|cli|web|\.ci)\//;

describeWith('registry', 'the package', () => {
  let dir: string;
  let packed: string;
  /** The program behind the command that was installed. */
  let program: string;
  beforeAll(async () => {
    dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-package-')));
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', dir], { cwd: ROOT });
    packed = path.join(dir, stdout.trim().split('\n').at(-1) ?? '');
    const prefix = path.join(dir, 'prefix');
    mkdirSync(prefix);
    await run('npm', ['install', '--global', '--no-audit', '--no-fund', '--prefix', prefix, packed], {
      cwd: dir,
    });
    program = realpathSync(path.join(prefix, 'bin', 'parley'));
  });

  afterAll(() => removeDir(dir));

  it('holds programs, pages, schemas and examples, and nothing that only changes them', () => {
    const names = execFileSync('tar', ['tzf', packed], { encoding: 'utf8' }).split('\n');
    expect(names.filter((name) => OF_THE_CHECKOUT.test(name))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining(
        ['dist/parley.js', 'dist/types/api/client/client.d.ts', 'docs/tutorial.md', 'schema/job.v1.json'].map(
          (name) => `package/${name}`,
        ),
      ),
    );
    expect(existsSync(path.join(ROOT, 'npm-shrinkwrap.json'))).toBe(false);
  });

  it('says which commit it was made of', async () => {
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
    const { stdout } = await run(process.execPath, [program, '--version'], { cwd: tempDir() });
    expect(stdout).toContain(`commit ${head.slice(0, 12)}`);
  });

  it('leads from an empty folder to a reconciled report', async () => {
    await expectTutorial(tempDir(), program);
  });

  it('is typed as the first page stands, in a folder without a checkout', async () => {
    expectTyped(await typeReadme(tempDir(), tempDir(), packed));
  });

  it('is run by npx from a folder without a checkout', async () => {
    const { stdout } = await run('npx', ['--yes', '--package', packed, 'parley', '--version'], {
      cwd: tempDir(),
    });
    expect(stdout).toContain('commit ');
  });

  it('plays what the first page shows', async () => {
    const cwd = path.dirname(path.dirname(program));
    for (const args of [
      ['validate', 'examples/first-batch/job.yaml'],
      ['plan', 'examples/first-batch/job.yaml'],
      ['simulate', 'examples/overnight/scenario.yaml'],
      ['test', 'examples/policy-tests'],
    ])
      await run(process.execPath, [program, ...args], { cwd });
  });

  it.each([
    ['docker', 'dockerode'],
    ['kubernetes', '@kubernetes/client-node'],
  ])('names the package of sandboxes in %s that it does without', async (kind, name) => {
    const cwd = tempDir();
    await run(process.execPath, [program, 'init'], { cwd });
    const file = path.join(cwd, 'parley.yaml');
    const image = `parley@sha256:${'a'.repeat(64)}`;
    const runtime = `runtime: { kind: ${kind}, ${kind}: { image: '${image}' } }`;
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^runtime: .*$/m, runtime));
    const gateway = {
      PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/v1',
      PARLEY_GATEWAY_KEY: 'k',
      PARLEY_MODEL: 'openai/m',
    };
    const asked = run(process.execPath, [program, 'doctor'], { cwd, env: { ...process.env, ...gateway } });
    const { stdout } = (await asked.catch((error: unknown) => error)) as { readonly stdout: string };
    expect(stdout).toContain(`the package "${name}" is not installed`);
    expect(stdout).toContain(`npm install --global ${name}@`);
    // Before anything is served, and not with the first sandbox.
    const served = run(process.execPath, [program, 'serve'], { cwd, env: { ...process.env, ...gateway } });
    const { stderr } = (await served.catch((error: unknown) => error)) as { readonly stderr: string };
    expect(stderr).toContain(`Cannot load a part of Parley: the package "${name}" is not installed`);
    expect(stderr).toContain(`npm install --global ${name}@`);
  });

  it('names the packages of an engine that it does without', async () => {
    const cwd = tempDir();
    const asked = run(process.execPath, [program, 'temporal', 'register', '--address', '127.0.0.1:1'], {
      cwd,
    });
    const { stderr, code } = (await asked.then(
      () => ({ stderr: '', code: 0 }),
      (error: unknown) => error,
    )) as { readonly stderr: string; readonly code: number };
    const { peerDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      readonly peerDependencies: Readonly<Record<string, string>>;
    };
    expect(stderr).toMatch(
      /^parley: Cannot load a part of Parley: the package "@temporalio\/\w+" is not installed$/m,
    );
    expect(stderr).toContain(
      `npm install --global @temporalio/activity@${peerDependencies['@temporalio/activity']} `,
    );
    expect(code).toBe(2);
  });

  it('has types that a user compiles against', async () => {
    const cwd = tempDir();
    const source = `import { createClient } from 'parley/client';
const client = createClient({ url: 'http://127.0.0.1:1', key: 'k' });
const page = await client.searchAppConversations({ query: { limit: 1 } });
const title: string = page.items[0]?.title ?? '';
// @ts-expect-error: there is no such field.
const none: unknown = page.items[0]?.nothing;
console.log(title, none);
`;
    execFileSync('npm', ['init', '--yes'], { cwd, stdio: 'ignore' });
    mkdirSync(path.join(cwd, 'node_modules'));
    symlinkSync(path.dirname(path.dirname(program)), path.join(cwd, 'node_modules', 'parley'));
    writeFileSync(path.join(cwd, 'use.mts'), source);
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck'];
    await run(process.execPath, [tsc, ...options, 'use.mts'], { cwd });
  });
});
