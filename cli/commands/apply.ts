/**
 * `parley apply`: the patch of one result onto a local checkout.
 * Owns what must hold before anything is changed: the result has a patch, the tree is clean, the patch fits.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Finding } from '../../core/run/items/item-evidence.ts';
import { counted } from '../../core/text/counted.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { readFindings, readOrNull } from '../run-results.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import { withRun } from '../open-run.ts';
import type { Shell } from '../../host/shell.ts';
import { noSuchKey } from '../story/near-names.ts';

interface ApplyOptions extends Flags {
  readonly to?: string;
  readonly check?: true;
  readonly '3way'?: true;
}

/** Enough to see what stands in the way. */
const CHANGES_SHOWN_MAX = 5;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('apply')
    .description('Apply the collected patch of one conversation to a local checkout.')
    .argument('<run>', 'id of the run')
    .argument('<key>', 'key of the conversation')
    .option('--to <dir>', 'checkout to change (default: the working directory)')
    .option('--check', 'say whether the patch fits, and change nothing')
    .option('--3way', 'fall back on a three-way merge, which may leave conflict marks')
    .shares('json', 'config')
    .says('Tracked files with changes that are not committed are never touched.')
    .says(
      'Exit codes: 0 applied, or it fits, 1 the patch does not fit, 2 there is no such run, key, patch or checkout.',
    )
    .examples('parley apply first-batch-20261121t043105-9f3c tidy/strong --to ../shop')
    .action(ends((id: string, key: string, options: ApplyOptions) => apply(shell, { id, key }, options)));
}

interface Result {
  readonly id: string;
  readonly key: string;
}

async function apply(shell: Shell, result: Result, options: ApplyOptions): Promise<ExitCode> {
  const { patch, findings } = await patchOf(shell, result, options);
  const root = await checkoutRoot(path.resolve(shell.cwd, options.to ?? '.'));
  const onlyChecks = options.check === true;
  const threeWay = options['3way'] === true;
  const changes = onlyChecks ? [] : await uncommitted(root);
  if (changes.length > 0) throw uncommittedChanges(root, changes);
  const { files, problem } =
    patch.byteLength === 0
      ? { files: [], problem: null }
      : await asFile(patch, async (file) => ({
          files: await patchedFiles(root, file),
          problem: await applyPatch(root, file, { onlyChecks, threeWay }),
        }));
  if (options.json === true) {
    const record = { type: 'apply', run_id: result.id, key: result.key, to: root, check: onlyChecks };
    const applied = problem === null && !onlyChecks;
    openRecords(shell.stdout).write({ ...record, applied, problem, files, findings });
  } else sayResult(shell, { result, root, files, findings, problem, onlyChecks, threeWay });
  return problem === null ? EXIT.ok : EXIT.failed;
}

const PATCH = 'changes.patch';

interface CollectedPatch {
  readonly patch: Uint8Array;
  /** What the work has that the patch has not. */
  readonly findings: readonly Finding[];
}

function withheld(key: string): CliError {
  return new CliError(
    `Cannot apply "${key}": its patch was withheld, because it holds the value of a secret`,
    {
      remedy:
        'keep the value out of what the agent writes, and run it again; the trajectory shows where it was used',
    },
  );
}

/** @throws CliError when there is no such run, key or patch */
async function patchOf(shell: Shell, { id, key }: Result, options: ApplyOptions): Promise<CollectedPatch> {
  return await withRun(shell, { id, config: options.config }, async ({ reader, row }) => {
    const { runId } = row;
    const keys = (await reader.runItems(runId)).map((item) => item.key);
    if (!keys.includes(key)) throw noSuchKey(key, keys, { list: `parley status ${id}` });
    const { results } = reader;
    const findings = (await readFindings(results, { runId, key })).filter(({ result }) => result === PATCH);
    // One that lies here all the same is of an earlier attempt.
    if (findings.some(({ code }) => code === 'secret')) throw withheld(key);
    const patch = await readOrNull(results, { runId, key, name: PATCH });
    if (patch !== null) return { patch, findings };
    const [why] = findings;
    if (why !== undefined)
      throw new CliError(`Cannot apply "${key}": its patch was not collected: ${why.says}`, {
        remedy: 'collect the files themselves with "collect: [{files: [...]}]", and run it again',
      });
    throw new CliError(`Cannot apply "${key}": no patch was collected of it`, {
      remedy: `the job must collect "diff"; collect what is missing with "parley collect ${id}"`,
    });
  });
}

/** Git takes a patch from a file, wherever the results are. */
async function asFile<Result>(patch: Uint8Array, work: (file: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-apply-'));
  try {
    const file = path.join(folder, PATCH);
    writeFileSync(file, patch, { mode: 0o600 });
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function uncommittedChanges(root: string, changes: readonly string[]): CliError {
  const shown = changes.slice(0, CHANGES_SHOWN_MAX).map((line) => line.slice(3));
  const more = changes.length - shown.length;
  const list = more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
  return new CliError(`Cannot apply to "${root}": it has changes that are not committed: ${list}`, {
    remedy: 'commit or stash them, or see with --check whether the patch fits',
  });
}

interface Applied {
  readonly result: Result;
  readonly root: string;
  readonly files: readonly PatchedFile[];
  readonly findings: readonly Finding[];
  readonly problem: string | null;
  readonly onlyChecks: boolean;
  readonly threeWay: boolean;
}

function sayResult({ stdout, stderr }: Shell, applied: Applied): void {
  const { result, root, files, findings, problem, onlyChecks, threeWay } = applied;
  for (const { says } of findings) stderr.write(`not in the patch: ${printable(says)}\n`);
  if (problem !== null) {
    const remedy = threeWay ? 'resolve what is marked in the files' : 'try --3way';
    stderr.write(`the patch of "${result.key}" does not fit "${root}":\n${problem}\n${remedy}\n`);
  } else if (files.length === 0) stdout.write(`nothing to apply: "${result.key}" changed no file\n`);
  else {
    const lines = files.map(
      ({ path: name, added, removed }) => `  ${name}  +${added ?? '-'} -${removed ?? '-'}`,
    );
    const done = onlyChecks ? 'it fits' : 'applied, not committed';
    stdout.write([`${counted(files.length, 'file')} of "${result.key}": ${done}`, ...lines, ''].join('\n'));
  }
}

/** A patch of a large repository lists many files. */
const OUTPUT_BYTES_MAX = 64 * 2 ** 20;

interface GitEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One file of a patch; null counts for a binary one. */
interface PatchedFile {
  readonly path: string;
  readonly added: number | null;
  readonly removed: number | null;
}

/** @throws CliError when the folder is no work tree of Git */
async function checkoutRoot(folder: string): Promise<string> {
  const found = await git(folder, ['rev-parse', '--show-toplevel']);
  if (found.code === 0) return found.stdout.trimEnd();
  throw new CliError(`Cannot apply to "${folder}": it is no checkout of Git`, {
    remedy: 'name the checkout with --to DIR',
  });
}

/** What is not committed of tracked files, as Git lists it; files that Git does not know do not count. */
async function uncommitted(root: string): Promise<readonly string[]> {
  const { stdout } = await git(root, ['status', '--porcelain', '--untracked-files=no']);
  return stdout.split('\n').filter((line) => line !== '');
}

async function patchedFiles(root: string, patch: string): Promise<readonly PatchedFile[]> {
  const { stdout } = await git(root, ['apply', '--numstat', '--end-of-options', patch]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [added = '-', removed = '-', path = ''] = line.split('\t');
      return { path, added: count(added), removed: count(removed) };
    });
}

const count = (text: string): number | null => (text === '-' ? null : Number(text));

/** How a patch is tried or applied; `threeWay` leaves conflict marks where it does not fit. */
interface ApplyMode {
  readonly onlyChecks: boolean;
  readonly threeWay: boolean;
}

/** Null when all of it fits; else what Git says. Without `threeWay` a patch that does not fit changes nothing. */
async function applyPatch(root: string, patch: string, mode: ApplyMode): Promise<string | null> {
  const flags = [...(mode.onlyChecks ? ['--check'] : []), ...(mode.threeWay ? ['--3way'] : [])];
  const end = await git(root, ['apply', '--whitespace=nowarn', ...flags, '--end-of-options', patch]);
  return end.code === 0 ? null : end.stderr.trimEnd();
}

function git(cwd: string, args: readonly string[]): Promise<GitEnd> {
  const env = { ...process.env, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  return new Promise((resolve, reject) => {
    const options = { cwd, env, maxBuffer: OUTPUT_BYTES_MAX };
    execFile('git', [...args], options, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, stdout, stderr });
      if (typeof error.code === 'number') return resolve({ code: error.code, stdout, stderr });
      reject(new CliError(`Cannot run git in "${cwd}": ${error.message}`));
    });
  });
}
