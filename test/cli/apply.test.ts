/** `parley apply` with real Git: a collected patch onto a checkout, and every reason to leave it alone. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost } from './fake-host.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { FINISHED, itemRow, RUN, runRow, SUCCEEDED } from './rows.ts';

const BEFORE = 'one\ntwo\nthree\n';
const AFTER = 'one\nTWO\nthree\n';
const IDENTITY = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'];

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...IDENTITY, ...args], { cwd, encoding: 'utf8' });
}

/** A checkout, and the results of a run whose one conversation changed a line and added a binary file. */
function setUp(patch?: string) {
  const cwd = tempDir();
  const checkout = path.join(cwd, 'shop');
  mkdirSync(checkout);
  git(checkout, 'init', '-q', '-b', 'main');
  writeFileSync(path.join(checkout, 'list.txt'), BEFORE);
  git(checkout, 'add', '.');
  git(checkout, 'commit', '-q', '-m', 'start');
  const results = path.join(cwd, 'results', RUN, 'tidy', 'strong');
  mkdirSync(results, { recursive: true });
  writeFileSync(path.join(results, 'changes.patch'), patch ?? madePatch(checkout));
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  const item = itemRow('tidy/strong', SUCCEEDED);
  const host = fakeHost({ rows: { row: runRow(FINISHED), items: [item, itemRow('other', SUCCEEDED)] } });
  const openReader: typeof host.openReader = async (config) => {
    const reader = await host.openReader(config);
    return reader && { ...reader, results: createResultsDirectory(path.join(cwd, 'results')) };
  };
  const shell = fakeShell({ cwd, host: { ...host, openReader } });
  const apply = (...args: readonly string[]): Promise<number> =>
    runCli(['apply', RUN, 'tidy/strong', '--to', 'shop', ...args], shell);
  const text = (): string => readFileSync(path.join(checkout, 'list.txt'), 'utf8');
  return { cwd, checkout, shell, apply, text };
}

function madePatch(checkout: string): string {
  writeFileSync(path.join(checkout, 'list.txt'), AFTER);
  writeFileSync(path.join(checkout, 'blob.bin'), Buffer.from([0, 1, 2, 255]));
  git(checkout, 'add', '.');
  const patch = git(checkout, 'diff', '--cached', '--binary');
  git(checkout, 'reset', '-q', '--hard');
  return patch;
}

describe('parley apply', () => {
  it('changes the files of the checkout, binary ones too, and commits nothing', async () => {
    const { checkout, shell, apply, text } = setUp();
    expect(await apply()).toBe(0);
    expect(text()).toBe(AFTER);
    expect(readFileSync(path.join(checkout, 'blob.bin'))).toEqual(Buffer.from([0, 1, 2, 255]));
    expect(git(checkout, 'log', '--format=%s')).toBe('start\n');
    expect(shell.stdout.text).toContain('2 files of "tidy/strong": applied, not committed');
    expect(shell.stdout.text).toContain('list.txt  +1 -1');
  });

  it('changes nothing with --check, also where there are changes already', async () => {
    const { checkout, shell, apply, text } = setUp();
    writeFileSync(path.join(checkout, 'new.txt'), 'mine');
    expect(await apply('--check', '--json')).toBe(0);
    expect(text()).toBe(BEFORE);
    expect(recordsOf(shell).slice(1)).toMatchObject([
      { type: 'apply', key: 'tidy/strong', check: true, applied: false, problem: null },
    ]);
  });

  it('leaves a tree with changes alone that nobody has committed, and says which', async () => {
    const { checkout, shell, apply, text } = setUp();
    writeFileSync(path.join(checkout, 'list.txt'), `${BEFORE}mine\n`);
    expect(await apply()).toBe(2);
    expect(text()).toBe(`${BEFORE}mine\n`);
    expect(shell.stderr.text).toContain('not committed: list.txt');
  });

  it('changes nothing at all when a part does not fit, and merges with --3way', async () => {
    const { checkout, shell, apply, text } = setUp();
    writeFileSync(path.join(checkout, 'list.txt'), `zero\n${BEFORE}`.replace('three', '3'));
    git(checkout, 'commit', '-q', '-a', '-m', 'moved on');
    expect(await apply()).toBe(1);
    expect(shell.stderr.text).toContain('try --3way');
    expect(git(checkout, 'status', '--porcelain')).toBe('');
    expect(await apply('--3way')).toBe(1);
    expect(text()).toContain('<<<<<<<');
  });

  it('applies with --3way what Git can merge by itself', async () => {
    const { checkout, apply, text } = setUp();
    writeFileSync(path.join(checkout, 'list.txt'), `zero\nhalf\n${BEFORE}`);
    git(checkout, 'commit', '-q', '-a', '-m', 'moved on');
    expect(await apply('--3way')).toBe(0);
    expect(text()).toBe(`zero\nhalf\n${AFTER}`);
  });

  it('has nothing to do for a conversation that changed nothing', async () => {
    const { shell, apply } = setUp('');
    expect(await apply()).toBe(0);
    expect(shell.stdout.text).toContain('nothing to apply');
  });

  it.each([
    [['apply', RUN, 'tidy/strnog', '--to', 'shop'], 'did you mean "tidy/strong"?'],
    [['apply', RUN, 'other', '--to', 'shop'], 'no patch was collected of it'],
    [['apply', RUN, 'tidy/strong', '--to', 'results'], 'it is no checkout of Git'],
    [['apply', 'nobody', 'tidy/strong', '--to', 'shop'], 'there is no run of this id'],
  ])('refuses %j', async (args, words) => {
    const { shell, text } = setUp();
    expect(await runCli(args, shell)).toBe(2);
    expect(shell.stderr.text).toContain(words);
    expect(text()).toBe(BEFORE);
  });
});
