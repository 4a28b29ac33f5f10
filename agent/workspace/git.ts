/**
 * Running Git in a sandbox repository. Owns the invocation: settings that keep output stable whatever the
 * repository's own configuration says, bounds, and errors. Changes nothing in the repository.
 */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { runChild } from './child.ts';
import { GIT_OUTPUT_BYTES_MAX, GIT_TIMEOUT_MS } from '../limits.ts';
import { shellEnvironment } from './shell-environment.ts';

/** Git refused, or its output was too large; the message holds what Git printed. */
export class GitError extends Error {}

const SETTINGS = [
  // A sandbox may run us under another user id than the one that owns the files.
  'safe.directory=*',
  'core.fsmonitor=false',
  'core.quotePath=false',
  'core.hooksPath=/dev/null',
  'core.safecrlf=false',
  'advice.addEmbeddedRepo=false',
  'color.ui=false',
  'diff.relative=false',
].flatMap((setting) => ['-c', setting]);

/** Errors sent to the caller are cut here: Git may list every file of a repository. */
const STDERR_CHARS_MAX = 2_000;

interface GitOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are answers, not failures. */
  readonly accepted?: readonly number[];
  readonly bytesMax?: number;
  /** What was written to standard error by a call that succeeded; cut at the same length as an error. */
  readonly onComplaint?: (text: string) => void;
}

/** @throws GitError Git ended with another code, took too long, or printed more than the bound */
export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  return await outputOf('git', { cwd, args: [...SETTINGS, ...args], what: `git ${args[0] ?? ''}` }, options);
}

interface ProgramCall {
  readonly cwd: string;
  readonly args: readonly string[];
  /** For errors. */
  readonly what: string;
}

/** Git, or another program that reads the same work tree. @throws GitError as `git` does */
export async function outputOf(
  program: string,
  { cwd, args, what: called }: ProgramCall,
  options: GitOptions = {},
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let complaint = '';
  const bytesMax = options.bytesMax ?? GIT_OUTPUT_BYTES_MAX;
  const tooMuch = new AbortController();
  const code = await runChild({
    program,
    args,
    cwd,
    env: { ...shellEnvironment({}), LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', ...options.env },
    timeoutMs: GIT_TIMEOUT_MS,
    onStdout: (chunk) => {
      bytes += chunk.length;
      if (bytes > bytesMax) tooMuch.abort();
      else chunks.push(chunk);
    },
    onStderr: (chunk) => {
      complaint = (complaint + chunk.toString('utf8')).slice(0, STDERR_CHARS_MAX);
    },
    signal: tooMuch.signal,
  });
  const what = `Cannot run ${called}`;
  if (tooMuch.signal.aborted) throw new GitError(`${what}: more than ${bytesMax} bytes of output`);
  if (code === null) throw new GitError(`${what}: no end within ${GIT_TIMEOUT_MS} ms`);
  if (!(options.accepted ?? [0]).includes(code))
    throw new GitError(`${what}: ${complaint.trim() || `exit code ${code}`}`);
  if (complaint !== '') options.onComplaint?.(complaint);
  return Buffer.concat(chunks);
}

/** The top of the work tree that `path`, a directory or a file, belongs to; null when there is none. */
export async function repositoryOf(path: string): Promise<string | null> {
  const directory = await nearestDirectory(path);
  if (directory === null) return null;
  try {
    return line(await git(directory, ['rev-parse', '--show-toplevel']));
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}

/** The path itself or its closest parent that is a directory; a deleted file has only the parent. */
export async function nearestDirectory(path: string): Promise<string | null> {
  for (let current = path; ; current = dirname(current)) {
    const found = await stat(current).catch(() => null);
    if (found?.isDirectory() === true) return current;
    if (current === dirname(current)) return null;
  }
}

/**
 * The tree to compare with: the given ref, else where the branch left its remote, else HEAD, else the empty tree. A
 * repository that had no commit when the work began has the empty tree as its ref.
 *
 * @throws GitError the given ref names neither commit nor tree
 */
export async function baseTree(repository: string, ref: string | null): Promise<string> {
  if (ref !== null) return await objectOf(repository, ref, 'tree');
  const attempts = [
    () => objectOf(repository, '@{upstream}', 'commit'),
    async () => line(await git(repository, ['merge-base', 'HEAD', 'refs/remotes/origin/HEAD'])),
    () => objectOf(repository, 'HEAD', 'commit'),
  ];
  for (const attempt of attempts) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
    }
  }
  return line(await git(repository, ['hash-object', '-t', 'tree', '/dev/null']));
}

async function objectOf(repository: string, ref: string, kind: 'commit' | 'tree'): Promise<string> {
  // After --end-of-options a ref that starts with a dash is a ref.
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{${kind}}`];
  try {
    return line(await git(repository, args));
  } catch (error) {
    if (error instanceof GitError)
      throw new GitError(`Cannot find ref "${ref}": it names no commit`, { cause: error });
    throw error;
  }
}

export function line(output: Buffer): string {
  return output.toString('utf8').replace(/\n$/, '');
}

/** A list that ends each path with NUL. Bytes, because a name need not be text. */
export function pathsIn(output: Buffer): Buffer[] {
  const paths: Buffer[] = [];
  for (let from = 0; from < output.length;) {
    const end = output.indexOf(0, from);
    const to = end === -1 ? output.length : end;
    if (to > from) paths.push(output.subarray(from, to));
    from = to + 1;
  }
  return paths;
}
