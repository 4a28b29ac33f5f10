/**
 * Broken job files through the real command: output and exit code are golden, and no stack trace ever.
 * Every case runs in a folder of its own, so that the shown paths are the same everywhere.
 */
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeDir } from '../helpers/temp-dir.ts';
import { expectGolden } from './golden-file.ts';
import { parley, ROOT } from './parley-program.ts';
import { JOB } from './rows.ts';

const BROKEN = path.join(ROOT, 'test/golden/dsl/err');

/** Files of the compiler's own corpus: what matters here is that the command says the same. */
const COPIED = [
  'alias-recursive',
  'anchors-bomb',
  'bad-duration',
  'bad-money',
  'bad-repository',
  'braces-unquoted',
  'duplicate-id',
  'duplicate-key',
  'exclude-nothing',
  'idle-time',
  'indent-too-much',
  'lossy-scalar-3.10',
  'lossy-scalar-tags',
  'many-errors',
  'matrix-not-a-list',
  'matrix-too-large',
  'merge-key',
  'missing-colon',
  'missing-keys',
  'nested-too-deep',
  'not-a-map',
  'out-of-bounds',
  'prompt-file-missing',
  'quote-unclosed',
  'secret-in-clear',
  'several-errors',
  'tab-indentation',
  'tag-key-hyphen',
  'tag-value-257',
  'template-unknown-axis',
  'text-binary',
  'text-not-utf8',
  'text-utf16',
  'two-documents',
  'unknown-key-nested',
  'unknown-key-top',
  'unknown-secret',
  'wrong-type-number',
  'wrong-version',
];

/** 50 MB, of which the disk holds nothing. */
const LARGE_BYTES = 50_000_000;

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly exitCode: number;
  prepare?(cwd: string): void;
}

const copied = (name: string): Case => ({
  name,
  args: [`${name}.yaml`],
  exitCode: 1,
  prepare: (cwd) => {
    copyFileSync(path.join(BROKEN, `${name}.yaml`), path.join(cwd, `${name}.yaml`));
    cpSync(path.join(BROKEN, '../prompts'), path.join(cwd, 'prompts'), { recursive: true });
  },
});

const CASES: readonly Case[] = [
  ...COPIED.map(copied),
  {
    name: 'empty',
    args: ['job.yaml'],
    exitCode: 1,
    prepare: (cwd) => writeFileSync(path.join(cwd, 'job.yaml'), ''),
  },
  {
    name: 'large',
    args: ['job.yaml'],
    exitCode: 1,
    prepare: (cwd) => {
      writeFileSync(path.join(cwd, 'job.yaml'), JOB);
      truncateSync(path.join(cwd, 'job.yaml'), LARGE_BYTES);
    },
  },
  {
    name: 'binary',
    args: ['job.yaml'],
    exitCode: 1,
    prepare: (cwd) =>
      writeFileSync(
        path.join(cwd, 'job.yaml'),
        Buffer.from('\u007fELF\u0002\u0001\u0000\u0000\u0003\u0000>\u0000'),
      ),
  },
  { name: 'missing', args: ['no.yaml'], exitCode: 2 },
  { name: 'folder', args: ['jobs'], exitCode: 2, prepare: (cwd) => mkdirSync(path.join(cwd, 'jobs')) },
  {
    name: 'several',
    args: ['good.yaml', 'duplicate-id.yaml', 'no.yaml', 'unknown-key-top.yaml'],
    exitCode: 2,
    prepare: (cwd) => {
      writeFileSync(path.join(cwd, 'good.yaml'), JOB);
      for (const name of ['duplicate-id.yaml', 'unknown-key-top.yaml']) {
        copyFileSync(path.join(BROKEN, name), path.join(cwd, name));
      }
    },
  },
  { ...copied('several-errors'), name: 'format-json', args: ['several-errors.yaml', '--format', 'json'] },
  { ...copied('several-errors'), name: 'format-jsonl', args: ['several-errors.yaml', '--format', 'jsonl'] },
  { ...copied('several-errors'), name: 'format-github', args: ['several-errors.yaml', '--format', 'github'] },
];

describe('parley validate', () => {
  // One folder for all: what a single test registers for its end is not kept apart among tests that run at once.
  let folder = '';
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-validate-')));
  });
  afterAll(() => removeDir(folder));

  it('has at least 40 broken files', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(40);
  });

  it.concurrent.each(CASES)('$name', async ({ name, args, exitCode, prepare }) => {
    const cwd = path.join(folder, name);
    mkdirSync(cwd);
    prepare?.(cwd);
    const result = await parley(['validate', ...args], { cwd });
    expect(`${result.stdout}${result.stderr}`).not.toMatch(/^\s+at |node:internal|Error:/m);
    const { stdout, stderr } = result;
    expectGolden(
      `validate/${name}.out`,
      `--- exit code ${result.exitCode}\n--- stdout\n${stdout}--- stderr\n${stderr}`,
    );
    expect(result.exitCode).toBe(exitCode);
    if (exitCode === 1 && !name.startsWith('format'))
      expect(stdout).toMatch(/^[\w.-]+\.yaml:\d+:\d+: error JOB\d{3}: /);
  });

  it('says ok, and ends with 0', async () => {
    const cwd = path.join(folder, 'good');
    mkdirSync(cwd);
    writeFileSync(path.join(cwd, 'job.yaml'), JOB);
    expect(await parley(['validate', 'job.yaml'], { cwd })).toEqual({
      exitCode: 0,
      stdout: 'job.yaml: ok, 2 conversations\n',
      stderr: '',
    });
  });
});
