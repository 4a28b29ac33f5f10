/**
 * A patch and a local Git checkout: is the tree clean, does the patch fit, apply it.
 * Owns the calls of `git` for this; must not know where a patch comes from.
 */
import { execFile } from 'node:child_process';
import { CliError } from '../../host/cli-error.ts';

/** A patch of a large repository lists many files. */
const OUTPUT_BYTES_MAX = 64 * 2 ** 20;

interface GitEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One file of a patch; null counts for a binary one. */
export interface PatchedFile {
  readonly path: string;
  readonly added: number | null;
  readonly removed: number | null;
}

/** @throws CliError when the folder is no work tree of Git */
export async function checkoutRoot(folder: string): Promise<string> {
  const found = await git(folder, ['rev-parse', '--show-toplevel']);
  if (found.code === 0) return found.stdout.trimEnd();
  throw new CliError(`Cannot apply to "${folder}": it is no checkout of Git`, {
    remedy: 'name the checkout with --to DIR',
  });
}

/** What is not committed of tracked files, as Git lists it; files that Git does not know do not count. */
export async function uncommitted(root: string): Promise<readonly string[]> {
  const { stdout } = await git(root, ['status', '--porcelain', '--untracked-files=no']);
  return stdout.split('\n').filter((line) => line !== '');
}

export async function patchedFiles(root: string, patch: string): Promise<readonly PatchedFile[]> {
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
export interface ApplyMode {
  readonly onlyChecks: boolean;
  readonly threeWay: boolean;
}

/** Null when all of it fits; else what Git says. Without `threeWay` a patch that does not fit changes nothing. */
export async function applyPatch(root: string, patch: string, mode: ApplyMode): Promise<string | null> {
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
