/** Nothing that a user could type, ask for or set before the folders were laid out anew has been lost since. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMIT_BEFORE_MOVES, describeWith } from '../helpers/requires.ts';
import { lostFrom, surfaceOf } from './laws/surface.ts';
import { isCode, madeUp, readRepository, type Tree } from './tree.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 200_000_000 });

function treeAt(commit: string): Tree {
  const names = git('ls-tree', '-r', '--name-only', commit).split('\n');
  const wanted = names.filter((name) => isCode(name) || name.startsWith('schema/'));
  const bytes = execFileSync('git', ['cat-file', '--batch'], {
    cwd: ROOT,
    input: wanted.map((name) => `${commit}:${name}\n`).join(''),
    maxBuffer: 200_000_000,
  });
  let at = 0;
  return wanted.map((name) => {
    const line = bytes.indexOf(10, at);
    const size = Number(bytes.toString('utf8', at, line).split(' ')[2]);
    at = line + 1 + size + 1;
    return { path: name, text: bytes.toString('utf8', line + 1, line + 1 + size) };
  });
}

describeWith(
  'history',
  'what a user could type, ask for or set before the folders were laid out anew',
  () => {
    it('is all there', () => {
      const before = surfaceOf(treeAt(COMMIT_BEFORE_MOVES));
      for (const list of Object.values(before)) expect(list.size).toBeGreaterThan(20);
      expect(lostFrom(before, surfaceOf(readRepository()))).toEqual([]);
    });
  },
);

describe('what a user can type, ask for or set', () => {
  it('is missed where it is lost', () => {
    const [before, after] = ["program.command('run').option('--quiet', 'x');", "program.command('run');"].map(
      (text) => surfaceOf(madeUp({ 'cli/a.ts': text })),
    );
    expect(before && after && lostFrom(before, after)).toEqual(['flags: --quiet']);
  });
});
