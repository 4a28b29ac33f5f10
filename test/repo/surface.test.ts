/** Nothing that a user could type, ask for or set before the folders were laid out anew has been lost since. */
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { lostFrom, surfaceOf } from './laws/surface.ts';
import { isCode, madeUp, readRepository, type Tree } from './tree.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The last commit before the first folder moved. */
const BEFORE = '78aed4b0174dd5ca9eb386cbdc4f9cce98b964c5';

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

describe('what a user can type, ask for or set', () => {
  const isHere = spawnSync('git', ['cat-file', '-e', `${BEFORE}^{commit}`], { cwd: ROOT }).status === 0;

  it.skipIf(!isHere)('is all there that was there before', () => {
    const before = surfaceOf(treeAt(BEFORE));
    for (const list of Object.values(before)) expect(list.size).toBeGreaterThan(20);
    expect(lostFrom(before, surfaceOf(readRepository()))).toEqual([]);
  });

  it('is missed where it is lost', () => {
    const [before, after] = ["program.command('run').option('--quiet', 'x');", "program.command('run');"].map(
      (text) => surfaceOf(madeUp({ 'cli/a.ts': text })),
    );
    expect(before && after && lostFrom(before, after)).toEqual(['flags: --quiet']);
  });
});
