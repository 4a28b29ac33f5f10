/** Changes of a repository as list, as two sides of a file, and as a patch that applies. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { tempDir } from '../helpers/temp-dir.ts';
import { Harness, git, makeRepository } from './harness.ts';

/** Commits, stages, edits, adds, deletes and ignores files of many kinds. */
function workIn(folder: string): void {
  const write = (path: string, content: string | Buffer): void => writeFileSync(join(folder, path), content);
  write('.gitignore', 'ignored/\n');
  write('committed.txt', 'committed\n');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'second');
  write('staged.txt', 'staged\n');
  git(folder, 'add', 'staged.txt');
  write('staged.txt', 'staged, then edited\n');
  write('src/app.txt', 'one\r\ntwo\nno line end');
  rmSync(join(folder, 'README.md'));
  write('binary.bin', Buffer.from([0, 1, 2, 255, 254, 10, 0]));
  write('with space and \u00fc.txt', 'x\n');
  write('run.sh', '#!/bin/sh\n');
  chmodSync(join(folder, 'run.sh'), 0o755);
  mkdirSync(join(folder, 'ignored'));
  write('ignored/secret.txt', 'never\n');
  mkdirSync(join(folder, 'empty-nested'));
  git(join(folder, 'empty-nested'), 'init', '-q');
}

describe('git', () => {
  it('makes one patch that applies to the base commit and leaves the index alone', async () => {
    const harness = await Harness.start();
    const folder = harness.workspace;
    const base = makeRepository(folder);
    const clone = join(tempDir(), 'clone');
    execFileSync('git', ['clone', '-q', folder, clone]);
    workIn(folder);
    git(folder, 'config', 'diff.noprefix', 'true');
    git(folder, 'config', 'diff.external', 'false');
    git(folder, 'config', 'color.diff', 'always');
    const before = {
      status: git(folder, 'status', '--porcelain'),
      index: readFileSync(join(folder, '.git/index')),
    };
    const objects = git(folder, 'count-objects', '-v');

    const answer = await harness.call(
      `GET /api/git/patch?path=${encodeURIComponent(`${folder}/src`)}&ref=${base}`,
    );
    expect(answer.status).toBe(200);
    writeFileSync(join(clone, '../work.patch'), answer.bytes);
    git(clone, 'apply', '--check', '../work.patch');
    git(clone, 'apply', '--index', '../work.patch');
    git(folder, 'config', '--unset', 'diff.noprefix');
    for (const path of ['src/app.txt', 'binary.bin', 'staged.txt', 'committed.txt', 'run.sh']) {
      expect(readFileSync(join(clone, path))).toEqual(readFileSync(join(folder, path)));
    }
    expect(git(clone, 'ls-files')).not.toMatch(/ignored\/|README/);
    expect(git(clone, 'ls-files', '-s', 'run.sh')).toMatch(/^100755/);
    expect(readFileSync(join(folder, '.git/index'))).toEqual(before.index);
    expect(git(folder, 'status', '--porcelain')).toBe(before.status);
    expect(git(folder, 'count-objects', '-v')).toBe(objects);
  });

  it('lists changes and shows both sides of a file', async () => {
    const harness = await Harness.start();
    const folder = harness.workspace;
    const base = makeRepository(folder);
    workIn(folder);
    const changes = await harness.call(`GET /api/git/changes?path=${folder}&ref=${base}`);
    expect(changes.body).toEqual([
      { status: 'ADDED', path: '.gitignore' },
      { status: 'DELETED', path: 'README.md' },
      { status: 'ADDED', path: 'binary.bin' },
      { status: 'ADDED', path: 'committed.txt' },
      { status: 'ADDED', path: 'run.sh' },
      { status: 'UPDATED', path: 'src/app.txt' },
      { status: 'ADDED', path: 'staged.txt' },
      { status: 'ADDED', path: 'with space and \u00fc.txt' },
    ]);
    const sides = async (path: string): Promise<unknown> =>
      (await harness.call(`GET /api/git/diff?path=${folder}/${path}&ref=${base}`)).body;
    expect(await sides('src/app.txt')).toEqual({
      original: 'one\ntwo\nthree\n',
      modified: 'one\r\ntwo\nno line end',
    });
    expect(await sides('README.md')).toEqual({ original: '# Sample\n', modified: null });
    expect(await sides('run.sh')).toEqual({ original: null, modified: '#!/bin/sh\n' });
  });

  it('compares with HEAD by default and with nothing in a repository without commits', async () => {
    const harness = await Harness.start();
    git(harness.workspace, 'init', '-q');
    writeFileSync(join(harness.workspace, 'first.txt'), 'x\n');
    const all = await harness.call(`GET /api/git/changes?path=${harness.workspace}`);
    expect(all.body).toEqual([{ status: 'ADDED', path: 'first.txt' }]);
    const empty = await harness.call(`GET /api/git/changes?path=${tempDir()}`);
    expect(empty.body).toEqual([]);
  });

  it('refuses unknown refs, options in place of refs, and relative paths', async () => {
    const harness = await Harness.start();
    makeRepository(harness.workspace);
    for (const query of [
      `path=${harness.workspace}&ref=nowhere`,
      `path=${harness.workspace}&ref=--output=x`,
      'path=src',
    ]) {
      const answer = await harness.call(`GET /api/git/patch?${query}`);
      expect(answer.status).toBe(400);
    }
  });

  it('works in a work tree of its own', async () => {
    const harness = await Harness.start();
    const base = makeRepository(harness.workspace);
    const tree = join(tempDir(), 'tree');
    git(harness.workspace, 'worktree', 'add', '-q', tree, '-b', 'side');
    writeFileSync(join(tree, 'side.txt'), 'side\n');
    const changes = await harness.call(`GET /api/git/changes?path=${tree}&ref=${base}`);
    expect(changes.body).toEqual([{ status: 'ADDED', path: 'side.txt' }]);
  });
});

describe('git in odd work trees', () => {
  /** Files and findings of the patch since `base`, applied to a clone. */
  async function applied(harness: Harness, base: string) {
    const folder = harness.workspace;
    const clone = join(tempDir(), 'clone');
    execFileSync('git', ['clone', '-q', folder, clone]);
    git(clone, 'checkout', '-q', '--detach', base);
    const answer = await harness.call(`GET /api/git/patch?path=${encodeURIComponent(folder)}&ref=${base}`);
    expect(answer.status).toBe(200);
    writeFileSync(join(clone, '../work.patch'), answer.bytes);
    git(clone, 'apply', '--index', '../work.patch');
    const header = answer.header('x-patch-findings') ?? '';
    return { clone, findings: JSON.parse(Buffer.from(header, 'base64url').toString()) as readonly string[] };
  }

  it('takes what it can, names the rest, and makes files of a repository that the agent made', async () => {
    const harness = await Harness.start();
    const folder = harness.workspace;
    const base = makeRepository(folder);
    const odd = ['-dash', 'new\nline', 'quo\'te"d', 'tab\tx', 'n'.repeat(255)];
    for (const name of odd) writeFileSync(join(folder, name), name);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), 'latin');
    symlinkSync('nowhere', join(folder, 'dangling'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    execFileSync('truncate', ['-s', '200G', join(folder, 'sparse')]);
    for (const name of ['made', 'copy']) {
      mkdirSync(join(folder, name, 'in'), { recursive: true });
      git(join(folder, name), 'init', '-q');
      writeFileSync(join(folder, name, 'in/file'), name);
    }
    git(join(folder, 'copy'), 'remote', 'add', 'origin', 'https://example.org/x.git');
    const { clone, findings } = await applied(harness, base);
    for (const name of odd) expect(readFileSync(join(clone, name), 'utf8')).toBe(name);
    expect(readFileSync(join(clone, 'made/in/file'), 'utf8')).toBe('made');
    expect(existsSync(join(clone, 'copy'))).toBe(false);
    expect(readFileSync(Buffer.concat([Buffer.from(`${clone}/caf`), Buffer.from([0xe9])]), 'utf8')).toBe(
      'latin',
    );
    expect(findings).toEqual([
      '"pipe" is no file, folder or link, and was left out',
      '"sparse" is larger than 104857600 bytes and was left out',
      expect.stringContaining('"copy" is a repository of its own, a copy of another'),
      expect.stringContaining('"made" is a repository of its own: its files are in the patch'),
    ]);
    const shown = await harness.call(`GET /api/git/diff?path=${folder}/dangling&ref=${base}`);
    expect(shown.body).toEqual({ original: null, modified: 'nowhere' });
  });

  it('shows a link and not what is behind it, in folders that are reached by a link, too', async () => {
    const harness = await Harness.start();
    const folder = harness.workspace;
    const outside = tempDir();
    makeRepository(outside);
    makeRepository(folder);
    symlinkSync('src/app.txt', join(folder, 'file-link'));
    symlinkSync(outside, join(folder, 'folder-link'));
    git(folder, 'add', '.');
    git(folder, 'commit', '-q', '-m', 'links');
    rmSync(join(folder, 'folder-link'));
    symlinkSync('src', join(folder, 'folder-link'));
    const byLink = join(tempDir(), 'by-link');
    symlinkSync(folder, byLink);
    for (const top of [folder, byLink]) {
      const sides = async (path: string): Promise<unknown> =>
        (await harness.call(`GET /api/git/diff?path=${top}/${path}&ref=HEAD`)).body;
      expect(await sides('folder-link')).toEqual({ original: outside, modified: 'src' });
      expect(await sides('file-link')).toEqual({ original: 'src/app.txt', modified: 'src/app.txt' });
      expect(await sides('src/app.txt')).toMatchObject({ original: 'one\ntwo\nthree\n' });
    }
  });

  it('lists names that are no text, each as its own', async () => {
    const harness = await Harness.start();
    const folder = harness.workspace;
    const base = makeRepository(folder);
    for (const byte of [0xfe, 0xff])
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([byte])]), 'x\n');
    const changes = await harness.call(`GET /api/git/changes?path=${folder}&ref=${base}`);
    expect(changes.body).toEqual(['fe', 'ff'].map((hex) => ({ status: 'ADDED', path: `caf\\x${hex}` })));
    const { clone, findings } = await applied(harness, base);
    expect(readdirSync(clone, 'buffer').filter((name) => name.includes('caf'))).toHaveLength(2);
    expect(findings).toEqual([]);
  });

  it('compares with the empty tree where the work began without a commit', async () => {
    const harness = await Harness.start();
    const folder = harness.workspace;
    git(folder, 'init', '-q');
    const base = execFileSync('git', ['hash-object', '-t', 'tree', '/dev/null'], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
    writeFileSync(join(folder, 'first.txt'), 'x\n');
    git(folder, 'add', '.');
    git(folder, 'commit', '-q', '-m', 'first');
    const changes = await harness.call(`GET /api/git/changes?path=${folder}&ref=${base}`);
    expect(changes.body).toEqual([{ status: 'ADDED', path: 'first.txt' }]);
  });
});
