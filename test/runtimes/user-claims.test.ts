/** Users of sandboxes that root starts: no two that live have the same one, whichever process assigns it, or when. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { claimUser } from '../../runtimes/process/user-claims.ts';
import { endProcess } from '../helpers/end-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';

function installation(root: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const dir = path.join(root, 'sandboxes', `s${at}`);
    mkdirSync(dir, { recursive: true });
    return dir;
  });
}

const RANGE = { firstUser: 1_700_000_000 };

it('gives none twice, by several processes at once, where the range is hardly larger than they need', async () => {
  const folder = tempDir();
  const claimsDir = path.join(folder, 'claims');
  mkdirSync(claimsDir);
  const outfile = path.join(folder, 'claims.mjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, '../../runtimes/process/user-claims.ts')],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
  });
  const options = JSON.stringify({ ...RANGE, claimsDir, users: 44 });
  const script = `import { claimUser } from './claims.mjs';
    console.log(JSON.stringify(await Promise.all(process.argv.slice(1).map((dir) => claimUser(dir, ${options})))));`;
  const given = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const dirs = installation(path.join(folder, `data${index}`), 10);
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, ...dirs], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => endProcess(child));
      const text = await child.stdout.toArray().then((chunks) => Buffer.concat(chunks).toString());
      return JSON.parse(text) as readonly number[];
    }),
  );
  expect(given.flat()).toHaveLength(40);
  expect(new Set(given.flat()).size).toBe(40);
});

it('is the same at the next start, after a crash between claim and note, and when the claims were lost', async () => {
  const folder = tempDir();
  const claimsDir = path.join(folder, 'claims');
  mkdirSync(claimsDir);
  const [a = '', b = ''] = installation(folder, 2);
  const options = { ...RANGE, claimsDir, users: 2 };
  const user = await claimUser(a, options);
  expect(await claimUser(a, options)).toBe(user);
  rmSync(path.join(a, 'user'));
  expect(await claimUser(a, options)).toBe(user);
  for (const name of readdirSync(claimsDir)) rmSync(path.join(claimsDir, name));
  const other = await claimUser(b, options);
  expect(other).not.toBe(user);
  expect(await claimUser(a, options)).toBe(user);
});

it('outlives a claim that a loss of power has emptied: it is its own again, and nobody else gets it', async () => {
  const folder = tempDir();
  const claimsDir = path.join(folder, 'claims');
  mkdirSync(claimsDir);
  const [a = '', b = ''] = installation(folder, 2);
  const options = { ...RANGE, claimsDir, users: 2 };
  const user = await claimUser(a, options);
  for (const left of ['', '{"dir":', '\0\0\0\0']) {
    writeFileSync(path.join(claimsDir, String(user)), left);
    expect(await claimUser(b, options)).not.toBe(user);
    expect(await claimUser(a, options)).toBe(user);
    expect(await claimUser(a, options)).toBe(user);
  }
});

it('stays with a folder that is moved, and a copy of it has another', async () => {
  const folder = tempDir();
  const claimsDir = path.join(folder, 'claims');
  mkdirSync(claimsDir);
  const [a = ''] = installation(path.join(folder, 'one'), 1);
  const options = { ...RANGE, claimsDir, users: 2 };
  const user = await claimUser(a, options);
  const copy = path.join(folder, 'two/sandboxes/s0');
  cpSync(a, copy, { recursive: true });
  expect(await claimUser(copy, options)).not.toBe(user);
  const moved = path.join(folder, 'moved/sandboxes/s0');
  mkdirSync(path.dirname(moved), { recursive: true });
  renameSync(a, moved);
  expect(await claimUser(moved, options)).toBe(user);
});

it('is given to another only when nothing is left: no folder, no process, and no disk that may come back', async () => {
  const folder = tempDir();
  const claimsDir = path.join(folder, 'claims');
  mkdirSync(claimsDir);
  const [a = '', b = ''] = installation(folder, 2);
  const options = { ...RANGE, firstUser: 1_700_000_100, claimsDir, users: 1 };
  const user = await claimUser(a, options);
  await expect(claimUser(b, options)).rejects.toThrow('each of 1 is taken');
  const claim = path.join(claimsDir, String(user));
  const said = JSON.parse(readFileSync(claim, 'utf8')) as { readonly device: number };
  rmSync(a, { recursive: true });
  // The disk of the folder is not there now: what is, is another.
  writeFileSync(claim, JSON.stringify({ ...said, dir: a, device: said.device + 1 }));
  await expect(claimUser(b, options)).rejects.toThrow('each of 1 is taken');
  writeFileSync(claim, JSON.stringify({ ...said, dir: a }));
  if (process.getuid?.() === 0) {
    const sleep = spawn('setpriv', ['--reuid', String(user), '--clear-groups', '--', 'sleep', '300']);
    onTestFinished(() => endProcess(sleep));
    const userOf = (): string => spawnSync('stat', ['-c', '%u', `/proc/${sleep.pid}`]).stdout.toString();
    await expect.poll(userOf).toBe(`${user}\n`);
    await expect(claimUser(b, options)).rejects.toThrow('each of 1 is taken');
    await endProcess(sleep);
  }
  expect(await claimUser(b, options)).toBe(user);
});
