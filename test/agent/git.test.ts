/** Changes of a repository as list, as two sides of a file, and as a patch that applies. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
